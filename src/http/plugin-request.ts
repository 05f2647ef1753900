import type { FastifyRequest } from 'fastify';
import type { Json } from '../domain/json/json.ts';
import { JsonTextError, parseJson } from '../domain/json/json-text.ts';
import type { PluginRequest } from '../plugin-host/plugin-host.ts';

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
