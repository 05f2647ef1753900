/**
 * The built-ins as they are before any plugin code exists. Code that ends a call, writes a log line or speaks to the
 * host uses only these, and no iteration protocol. So a plugin that rewrites `JSON`, `Array.prototype` or `Promise` can
 * break its own code, but neither its outcome nor the service's view of it. The web APIs in `globals/` serve only the
 * plugin, and use ordinary methods.
 */

export const {
  apply,
  construct,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isExtensible,
  ownKeys,
  preventExtensions,
  setPrototypeOf,
} = Reflect;
export const { freeze, is, keys: enumerableKeys } = Object;
export const { isArray } = Array;
export const { isView } = ArrayBuffer;
export const { isFinite: isFiniteNumber, isInteger } = Number;
export const { floor, max, min } = Math;
export const { parse: parseJson } = JSON;

/** Calls `method` with the first argument as its receiver. */
function uncurry(method: (...args: never[]) => unknown) {
  return (self: unknown, ...args: unknown[]): unknown => apply(method, self, args);
}

type Uncurried<A extends unknown[], R> = (self: unknown, ...args: A) => R;

export const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf) as Uncurried<[unknown], boolean>;
export const numberValue = uncurry(Number.prototype.valueOf) as Uncurried<[], number>;
export const stringValue = uncurry(String.prototype.valueOf) as Uncurried<[], string>;
export const booleanValue = uncurry(Boolean.prototype.valueOf) as Uncurried<[], boolean>;
export const bigintValue = uncurry(BigInt.prototype.valueOf) as Uncurried<[], bigint>;
export const dateValue = uncurry(Date.prototype.getTime) as Uncurried<[], number>;
export const dateToText = uncurry(Date.prototype.toString) as Uncurried<[], string>;
export const dateToIso = uncurry(Date.prototype.toISOString) as Uncurried<[], string>;
export const regExpToString = uncurry(RegExp.prototype.toString) as Uncurried<[], string>;
export const regExpExec = uncurry(RegExp.prototype.exec) as Uncurried<[string], RegExpExecArray | null>;
export const stringSlice = uncurry(String.prototype.slice) as Uncurried<[number, number?], string>;
export const stringIncludes = uncurry(String.prototype.includes) as Uncurried<[string], boolean>;
export const stringTrim = uncurry(String.prototype.trim) as Uncurried<[], string>;
export const charCodeAt = uncurry(String.prototype.charCodeAt) as Uncurried<[number], number>;
export const promiseThen = uncurry(Promise.prototype.then) as Uncurried<
  [((value: unknown) => unknown)?, ((reason: unknown) => unknown)?],
  void
>;
export const mapForEach = uncurry(Map.prototype.forEach) as Uncurried<[(value: unknown, key: unknown) => void], void>;
export const setForEach = uncurry(Set.prototype.forEach) as Uncurried<[(value: unknown) => void], void>;

/** The text of a primitive. This is `String` itself, which calls no method of a primitive. */
export const toText = String;
export const toNumber = Number;

export const NativeProxy = Proxy;
export const NativePromise = Promise;
export const NativeError = Error;
export const NativeTypeError = TypeError;
/** V8's own function: gives an object the stack of the callers of a given function. */
export const { captureStackTrace: captureStack } = Error;

export const { prototype: NumberPrototype } = Number;
export const { prototype: StringPrototype } = String;
export const { prototype: BooleanPrototype } = Boolean;
export const { prototype: BigIntPrototype } = BigInt;
export const { prototype: DatePrototype } = Date;
export const { prototype: RegExpPrototype } = RegExp;
export const { prototype: ErrorPrototype } = Error;
export const { prototype: MapPrototype } = Map;
export const { prototype: SetPrototype } = Set;
export const { prototype: PromisePrototype } = Promise;
export const { prototype: ArrayBufferPrototype } = ArrayBuffer;
export const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;

const stringify = JSON.stringify;

/** The JSON text of a string. A plugin cannot interfere, because JSON.stringify looks up `toJSON` on objects only. */
export function quoteJson(text: string): string {
  return stringify(text);
}

const rawJson = JSON as { isRawJSON?: (value: unknown) => boolean };
const nativeIsRawJson = rawJson.isRawJSON;

/** Whether a value was made by JSON.rawJSON, where the engine has it. */
export function isRawJson(value: object): value is { rawJSON: string } {
  return nativeIsRawJson?.(value) ?? false;
}

/** Gives a collection class its own frozen copy of the inherited methods, out of reach of any later change. */
function detach<T extends { prototype: object }>(collection: T, from: object): T {
  const { prototype } = collection;
  for (const key of ownKeys(from)) {
    if (key === 'constructor') continue;
    defineProperty(prototype, key, getOwnPropertyDescriptor(from, key) as PropertyDescriptor);
  }
  setPrototypeOf(prototype, null);
  freeze(prototype);
  return collection;
}

/** A Map whose methods no plugin can replace. */
export const SafeMap = detach(class<K, V> extends Map<K, V> {}, Map.prototype);
export type SafeMap<K, V> = Map<K, V>;

/** A WeakMap whose methods no plugin can replace. */
export const SafeWeakMap = detach(class<K extends WeakKey, V> extends WeakMap<K, V> {}, WeakMap.prototype);
export type SafeWeakMap<K extends WeakKey, V> = WeakMap<K, V>;
