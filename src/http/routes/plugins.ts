import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PluginHost } from '../../plugin-host/plugin-host.ts';
import type { PluginsService } from '../../services/settings/plugins.ts';
import { seenPlugin } from '../access/seen-plugin.ts';
import { success, successPage } from '../answers/envelope.ts';
import { accessOf, callerOf } from '../caller.ts';
import { disconnectSignal } from '../disconnect.ts';
import type { HttpMetrics } from '../http-metrics.ts';
import { acceptAnythingAsJson, assertNoBody, bodyOf } from '../json-body.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { pluginRequestOf } from '../plugin-request.ts';

interface PluginRouteParts {
  pluginHost: PluginHost;
  metrics: HttpMetrics;
  limits: Pick<HttpLimits, 'pluginBodyBytes'>;
}

const params = z.object({ id: z.string() });

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

  routes.get('/plugins/:id', { schema: { params } }, async (request) => shown(request.params.id, request));

  routes.patch('/plugins/:id', { schema: { params } }, async (request) => {
    const { id } = request.params;
    await plugins.update(pluginHost.declared(id), bodyOf(request), callerOf(request));
    return shown(id, request);
  });

  for (const [deed, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.post(`/plugins/:id/${deed}`, { schema: { params } }, async (request) => {
      assertNoBody(request);
      const { id } = request.params;
      await plugins.enable(pluginHost.declared(id), isEnabled, callerOf(request));
      return shown(id, request);
    });
  }

  routes.post('/plugins/:id/reload', { schema: { params } }, async (request) => {
    assertNoBody(request);
    await pluginHost.reload(request.params.id);
    return shown(request.params.id, request);
  });

  routes.get('/plugins/:id/logs', { schema: { params, querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(pluginHost.logs(request.params.id, page), page);
  });
}
