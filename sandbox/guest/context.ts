import type { InvocationContext } from '../protocol.ts';
import type { BoundCalls } from './capability-calls.ts';
import { createKv } from './kv.ts';
import type { PluginContext } from './plugin-api.ts';
import { createApi } from './relayer.ts';

/**
 * Makes the handler's argument: an ordinary object with own enumerable fields, in the order that plugins know. Plugins
 * may spread it, change it and pass it on.
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
