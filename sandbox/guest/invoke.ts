import type { InvocationContext } from '../protocol.ts';
import type { CallEnd } from './call-end.ts';
import type { BoundCalls } from './capability-calls.ts';
import { createContext } from './context.ts';
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
import type { PluginContext } from './plugin-api.ts';

type Handler = (...args: unknown[]) => unknown;

/** Exports that are told of where the handler is missing. */
const MOST_NAMES = 10;

/**
 * Runs the plugin's handler: with the context when it declares exactly one parameter, as `handler(api, params)`
 * otherwise, which is how older plugins are written. Never throws: every way it can go ends the call.
 */
export function invokeHandler(moduleExports: unknown, given: InvocationContext, calls: BoundCalls, end: CallEnd): void {
  const call = end.number;
  try {
    const handler = findHandler(moduleExports);
    const context = createContext(calls, given);
    settle(handler.length === 1 ? apply(handler, undefined, [context]) : callWithApi(handler, context), end, call);
  } catch (error) {
    end.threw(call, error);
  }
}

/** @throws Error where a module exports none, or what its getter throws */
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
  for (let index = 0; index < names.length && index < MOST_NAMES; index++) {
    text += `${index === 0 ? 'it exports ' : ', '}${names[index] as string}`;
  }
  return text === '' ? 'it exports nothing' : text;
}

function callWithApi(handler: Handler, { api, params }: PluginContext): unknown {
  return apply(handler, undefined, [api, params]);
}

/** Ends the call with what its handler's result comes to, awaiting it when it is a promise or a thenable. */
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
    // `then` asks a promise for its constructor, and that is not one any more. Without any it asks no further.
    defineProperty(adopted, 'constructor', { __proto__: null, value: undefined } as object);
    promiseThen(adopted, onReturned, onThrown);
  }
}
