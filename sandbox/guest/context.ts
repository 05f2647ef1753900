import type { InvocationContext } from '../protocol.ts';
import type { BoundCalls } from './capability-calls.ts';
import { createKv } from './kv.ts';
import type { PluginContext } from './plugin-api.ts';
import { createApi } from './relayer.ts';

/**
 * The handler's argument: an ordinary object of own enumerable fields in the order that plugins know, so that they may
 * spread it, change it and pass it on.
 */
export function createContext(calls: BoundCalls, given: InvocationContext): PluginContext {
  return {
    api: createApi(calls),
    params: given.params,
    kv: createKv(calls),
    headers: given.headers,
    route: given.route,
    config: given.config,
    method: given.method,
    query: given.query,
    caller: given.caller,
  };
}
