import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { CallerSignal } from '../../../sandbox/host/surroundings.ts';
import type { Json } from '../../domain/json/json.ts';
import { JsonTextError, parseJson } from '../../domain/json/json-text.ts';
import type { PluginHost, PluginRequest } from '../../plugin-host/plugin-host.ts';
import type { PluginsService } from '../../services/settings/plugins.ts';
import { seenPlugin } from '../access/seen-plugin.ts';
import type { HttpLimits, HttpMetrics } from '../admission.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { acceptAnythingAsJson, accessOf, assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

interface PluginRouteParts {
  pluginHost: PluginHost;
  metrics: HttpMetrics;
  limits: Pick<HttpLimits, 'pluginBodyBytes'>;
}

type CallRequest = FastifyRequest<{ Params: { id: string; '*'?: string } }>;

/**
 * Routes that call a plugin, with the plugin's route in the path or in the query. The plugin host makes the answer's
 * text.
 */
export function pluginRoutes(app: FastifyInstance, { pluginHost, metrics, limits }: PluginRouteParts): void {
  acceptAnythingAsJson(app);
  for (const method of ['GET', 'POST'] as const) {
    for (const url of ['/plugins/:id/call', '/plugins/:id/call/*']) {
      app.route({
        method,
        url,
        bodyLimit: limits.pluginBodyBytes,
        config: { ownDeadline: true, runsPlugin: true },
        // A HEAD request would run the plugin and discard its answer.
        exposeHeadRoute: false,
        handler: async (request: CallRequest, reply) => {
          const { id, '*': tail = '' } = request.params;
          const signal = disconnectSignal(reply.raw);
          const answer = await pluginHost.call(id, pluginRequestOf(request, method, tail), signal);
          metrics.pluginCalled(id, method, answer.status);
          if (answer.retryAfter !== undefined) reply.header('retry-after', answer.retryAfter);
          return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
        },
      });
    }
  }
}

/** Routes that show plugins and their state, and change the settings that clients may change. */
export function pluginViewRoutes(app: FastifyInstance, pluginHost: PluginHost, plugins: PluginsService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();
  const shown = async (id: string, request: FastifyRequest) =>
    success(seenPlugin(await pluginHost.get(id), accessOf(request)));

  routes.get('/plugins', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    const access = accessOf(request);
    const { items, total } = await pluginHost.list(page, access.idsOf('plugins'));
    return successPage({ items: items.map((view) => seenPlugin(view, access)), total }, page);
  });

  routes.get('/plugins/:id', { schema: { params: idParams } }, async (request) => shown(request.params.id, request));

  routes.patch('/plugins/:id', { schema: { params: idParams } }, async (request) => {
    const { id } = request.params;
    await plugins.update(pluginHost.declared(id), bodyOf(request), callerOf(request));
    return shown(id, request);
  });

  for (const [action, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.post(`/plugins/:id/${action}`, { schema: { params: idParams } }, async (request) => {
      assertNoBody(request);
      const { id } = request.params;
      await plugins.enable(pluginHost.declared(id), isEnabled, callerOf(request));
      return shown(id, request);
    });
  }

  routes.post('/plugins/:id/reload', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await pluginHost.reload(request.params.id);
    return shown(request.params.id, request);
  });

  routes.get('/plugins/:id/logs', { schema: { params: idParams, querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(pluginHost.logs(request.params.id, page), page);
  });
}

/** Makes the request that a plugin's handler gets. `tail` is the path after `/call`. */
export function pluginRequestOf(request: FastifyRequest, method: 'GET' | 'POST', tail: string): PluginRequest {
  const query = queryOf(request.url);
  return {
    method,
    route: tail === '' ? (query['route']?.[0] ?? '') : `/${tail}`,
    params: paramsOf(query, method === 'GET' ? undefined : request.body),
    headers: headersOf(request.raw.rawHeaders),
    query,
    keyId: request.keyId,
    requestId: request.id,
    ...(request.keyedRun !== null && { claim: request.keyedRun.claim }),
  };
}

/**
 * Returns the params of a call, from the first source that exists: the query's `params`, as JSON or else as text; the
 * body's key `params`, which the reference's clients send; the whole body; `{}`.
 */
function paramsOf(query: Record<string, string[]>, body: unknown): Json {
  const given = query['params']?.[0];
  if (given !== undefined) return jsonOrText(given);
  if (body === undefined) return {};
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, 'params')) {
    return (body as { params: Json }).params;
  }
  return body as Json;
}

function jsonOrText(text: string): Json {
  try {
    return parseJson(text, 'plain') as Json;
  } catch (error) {
    if (error instanceof JsonTextError) return text;
    throw error;
  }
}

/**
 * Headers that a plugin does not get: the caller's credentials, and the key under which the service repeats the call.
 */
const WITHHELD: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'idempotency-key']);

/** Lower-case names, one entry per line, in order. */
function headersOf(rawHeaders: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!WITHHELD.has(name)) add(groups, name, rawHeaders[at + 1] ?? '');
  }
  return groups;
}

/**
 * Parses a query as forms are encoded: `+` is a space, a bare name has an empty value, repeated names keep their order.
 */
function queryOf(url: string): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  const at = url.indexOf('?');
  if (at === -1) return groups;
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) add(groups, name, value);
  return groups;
}

/**
 * Adds a value to a name. `__proto__` is an ordinary name here. An object without a prototype would cost three times as
 * much.
 */
function add(groups: Record<string, string[]>, name: string, value: string): void {
  if (Object.hasOwn(groups, name)) groups[name]?.push(value);
  else if (name === '__proto__') Object.defineProperty(groups, name, { value: [value], enumerable: true });
  else groups[name] = [value];
}

/** Aborts when the client leaves before its answer is complete. */
function disconnectSignal(response: ServerResponse): CallerSignal {
  const signal = new DisconnectSignal();
  response.on('close', () => {
    if (!response.writableFinished) signal.abort();
  });
  return signal;
}

/**
 * Stands in for an AbortSignal. One is made for each plugin call, and an AbortController costs more than everything
 * else that is recorded of the call.
 */
class DisconnectSignal implements CallerSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  abort(): void {
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
