import { nodeError } from '../node-error.ts';
import { isDeepEqual } from './deep-equal.ts';
import { callbackify, deprecate, inherits, promisify } from './function-wrappers.ts';
import { createTypeChecks } from './type-checks.ts';

interface Signal {
  readonly aborted: boolean;
  addEventListener(type: string, listener: (event: unknown) => void, options: { once: boolean }): void;
}

/**
 * Node's module `util`, without the functions that show values as text, and without the members that are global too.
 */
export function createTools(): Record<string, unknown> {
  const types = createTypeChecks();
  return {
    promisify,
    callbackify,
    deprecate,
    inherits,
    types,
    isDeepStrictEqual: (a: unknown, b: unknown, options?: unknown) =>
      isDeepEqual(a, b, {
        strict: true,
        skipPrototype: options === true || (options as { skipPrototype?: unknown } | undefined)?.skipPrototype === true,
      }),
    isArray: Array.isArray,
    _extend: (target: object, source: unknown) =>
      typeof source === 'object' && source !== null ? Object.assign(target, source) : target,
    debuglog,
    debug: debuglog,
    toUSVString: (text: unknown) => String(text).toWellFormed(),
    markPromiseAsHandled: (promise: Promise<unknown>) => void promise.catch(() => {}),
    transferableAbortController: () => new AbortController(),
    transferableAbortSignal: (signal: unknown) => signal,
    aborted(signal: Signal) {
      if (typeof signal?.aborted !== 'boolean') {
        throw nodeError('ERR_INVALID_ARG_TYPE', 'signal is not of type AbortSignal.', TypeError);
      }
      return new Promise<unknown>((resolve) => {
        if (signal.aborted) resolve(undefined);
        else signal.addEventListener('abort', resolve, { once: true });
      });
    },
  };
}

/** Logs nothing, because `NODE_DEBUG` is never set for a plugin. */
function debuglog(_section: unknown, tell?: (log: unknown) => void): unknown {
  const log = Object.assign(() => {}, { enabled: false });
  tell?.(log);
  return log;
}
