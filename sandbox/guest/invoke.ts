import type { InvocationContext } from '../contract.ts';
import type { CallEnd } from './call-end.ts';
import type { CapabilityCaller } from './capability-calls.ts';
import {
  apply,
  defineProperty,
  enumerableKeys,
  isPrototypeOf,
  NativeError,
  NativePromise,
  PromisePrototype,
  promiseThen,
} from './intrinsics/primordials.ts';
import { createKv } from './kv.ts';
import type { PluginContext } from './plugin-api.ts';
import { createApi } from './relayer.ts';

/**
 * Makes the handler's argument: an ordinary object with own enumerable fields, in the order that plugins know. Plugins
 * may spread it, change it and pass it on.
 */
export function createContext(calls: CapabilityCaller, given: InvocationContext): PluginContext {
  const context: PluginContext = {
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
  if (given.trigger !== undefined) context.trigger = given.trigger;
  return context;
}

type Handler = (...args: unknown[]) => unknown;

/** The error for a missing handler lists at most so many exports. */
const MAX_NAMES = 10;

/**
 * Runs the plugin's handler. A handler with exactly one parameter gets the context. Any other handler is called as
 * `handler(api, params)`, the form of older plugins. Never throws: every outcome ends the call.
 */
export function invokeHandler(
  moduleExports: unknown,
  given: InvocationContext,
  calls: CapabilityCaller,
  end: CallEnd,
): void {
  const call = end.number;
  try {
    const handler = findHandler(moduleExports);
    const context = createContext(calls, given);
    settle(handler.length === 1 ? apply(handler, undefined, [context]) : callWithApi(handler, context), end, call);
  } catch (error) {
    end.threw(call, error);
  }
}

/** @throws Error when the module exports no handler, or what the getter of `handler` throws */
export function findHandler(moduleExports: unknown): Handler {
  const isModule = (typeof moduleExports === 'object' && moduleExports !== null) || typeof moduleExports === 'function';
  const handler = isModule ? (moduleExports as { handler?: unknown }).handler : undefined;
  if (typeof handler === 'function') return handler as Handler;
  const told =
    handler === undefined ? exportsOf(isModule ? moduleExports : {}) : `its handler is of type ${typeof handler}`;
  throw new NativeError(`Plugin must export a handler function; ${told}`);
}

function exportsOf(module: object): string {
  const names = enumerableKeys(module);
  let text = '';
  for (let index = 0; index < names.length && index < MAX_NAMES; index++) {
    text += `${index === 0 ? 'it exports ' : ', '}${names[index] as string}`;
  }
  return text === '' ? 'it exports nothing' : text;
}

function callWithApi(handler: Handler, { api, params }: PluginContext): unknown {
  return apply(handler, undefined, [api, params]);
}

/** Ends the call with the handler's result. Awaits the result when it is a promise or a thenable. */
function settle(result: unknown, end: CallEnd, call: number): void {
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') {
    end.returned(call, result);
    return;
  }
  const onReturned = (value: unknown) => end.returned(call, value);
  const onThrown = (error: unknown) => end.threw(call, error);
  const adopted = isPrototypeOf(PromisePrototype, result) ? result : new NativePromise((resolve) => resolve(result));
  try {
    promiseThen(adopted, onReturned, onThrown);
  } catch {
    // `then` threw: it reads the promise's `constructor`, which is not a constructor any more. With an undefined
    // `constructor`, `then` uses the native class.
    defineProperty(adopted, 'constructor', { __proto__: null, value: undefined } as object);
    promiseThen(adopted, onReturned, onThrown);
  }
}
