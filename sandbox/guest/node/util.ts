import { isDeepEqual } from './deep-equal.ts';
import { checkFunction, convertToString, invalidArgType, nodeError } from './node-error.ts';
import { createTypeChecks } from './type-checks.ts';

interface Signal {
  readonly aborted: boolean;
  addEventListener(type: string, listener: (event: unknown) => void, options: { once: boolean }): void;
}

/**
 * Node's module `util`, without the functions that show values as text, and without the members that are global too.
 * @param atCall runs its argument at the beginning of each call
 */
export function createUtil(atCall: (reset: () => void) => void = () => {}): Record<string, unknown> {
  atCall(() => deprecations.clear());
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
function debuglog(_section: unknown, finish?: (log: unknown) => void): unknown {
  const log = Object.assign(() => {}, { enabled: false });
  finish?.(log);
  return log;
}

type AnyFunction = (...args: unknown[]) => unknown;

type Callback = (error: unknown, ...values: unknown[]) => unknown;

const custom = Symbol.for('nodejs.util.promisify.custom');

/** Makes a function that returns a promise. The original takes a callback as its last argument. */
export function promisify(original: unknown): AnyFunction {
  checkFunction(original, 'original');
  const own = (original as { [custom]?: unknown })[custom];
  if (own !== undefined) {
    checkFunction(own, 'util.promisify.custom');
    return Object.defineProperty(own, custom, { value: own, writable: false, configurable: true });
  }
  function promised(this: unknown, ...args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, value) => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the callback was told
        if (error) reject(error);
        else resolve(value);
      };
      Reflect.apply(original as AnyFunction, this, [...args, done]);
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original) as object);
  Object.defineProperty(promised, custom, { value: promised, writable: false, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}

promisify.custom = custom;

/** Makes a function that takes a callback. The original returns a promise. */
export function callbackify(original: unknown): AnyFunction {
  checkFunction(original, 'original');
  function called(this: unknown, ...args: unknown[]): void {
    const callback = args.pop();
    checkFunction(callback, 'last argument');
    const finish = (error: unknown, value?: unknown) =>
      process.nextTick(() => Reflect.apply(callback, this, error === null ? [null, value] : [error]));
    (Reflect.apply(original as AnyFunction, this, args) as Promise<unknown>).then(
      (value) => finish(null, value),
      (error: unknown) => finish(error || falsyRejection(error)),
    );
  }
  const { length } = original as { length: number };
  Object.setPrototypeOf(called, Object.getPrototypeOf(original) as object);
  const properties = Object.getOwnPropertyDescriptors(original) as Record<string, PropertyDescriptor>;
  if (typeof length === 'number') properties['length'] = { value: length + 1, configurable: true };
  properties['name'] = { value: `${original.name}Callbackified`, configurable: true };
  return Object.defineProperties(called, properties);
}

function falsyRejection(reason: unknown): Error {
  return Object.assign(nodeError('ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value'), { reason });
}

const deprecations = new Set<unknown>();

/** Once for each code, in each call. */
function warn(text: string, code: unknown): void {
  // oxlint-disable-next-line no-console -- the plugin's own console
  if (!deprecations.has(code)) console.warn(text);
  deprecations.add(code);
}

/** Wraps a function. The first call prints a warning that the function is deprecated. */
export function deprecate(original: unknown, message: unknown, code?: unknown): AnyFunction {
  if (code !== undefined && typeof code !== 'string') throw invalidArgType('code', 'of type string', code);
  checkFunction(original, 'fn');
  const prefix = code === undefined ? '' : `[${convertToString(code)}] `;
  const warning = `${prefix}DeprecationWarning: ${convertToString(message)}`;
  let warned = false;
  function deprecated(this: unknown, ...args: unknown[]): unknown {
    if (!warned) warn(warning, code ?? warning);
    warned = true;
    return new.target
      ? Reflect.construct(original as AnyFunction, args, new.target)
      : Reflect.apply(original as AnyFunction, this, args);
  }
  Object.setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype as object;
  return deprecated;
}

/** Makes the objects of one constructor inherit from another, as code did before there were classes. */
export function inherits(child: unknown, parent: unknown): void {
  checkFunction(child, 'ctor');
  checkFunction(parent, 'superCtor');
  if (parent.prototype === undefined) throw invalidArgType('superCtor.prototype', 'of type object', parent.prototype);
  Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype as object, parent.prototype as object);
}
