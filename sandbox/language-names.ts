/** The group of objects that code reaches without their names, by literals, operators and errors. */
export const AT_HAND = 0;

/**
 * The language's names on the global object, each with its group: {@link AT_HAND} or a number. Code reaches the objects
 * of a numbered group in no other way until it reads one of the group's names.
 */
export const LANGUAGE_NAMES = {
  __proto__: null,
  globalThis: AT_HAND,
  Object: AT_HAND,
  Function: AT_HAND,
  Boolean: AT_HAND,
  Symbol: AT_HAND,
  Error: AT_HAND,
  AggregateError: AT_HAND,
  EvalError: AT_HAND,
  RangeError: AT_HAND,
  ReferenceError: AT_HAND,
  SyntaxError: AT_HAND,
  TypeError: AT_HAND,
  URIError: AT_HAND,
  SuppressedError: AT_HAND,
  Number: AT_HAND,
  parseFloat: AT_HAND,
  parseInt: AT_HAND,
  BigInt: AT_HAND,
  String: AT_HAND,
  RegExp: AT_HAND,
  Array: AT_HAND,
  Iterator: AT_HAND,
  Promise: AT_HAND,
  ArrayBuffer: 1,
  DataView: 1,
  Int8Array: 1,
  Uint8Array: 1,
  Uint8ClampedArray: 1,
  Int16Array: 1,
  Uint16Array: 1,
  Int32Array: 1,
  Uint32Array: 1,
  BigInt64Array: 1,
  BigUint64Array: 1,
  Float16Array: 1,
  Float32Array: 1,
  Float64Array: 1,
  // One group: a `Date` leads to `Temporal` objects.
  Date: 2,
  Temporal: 2,
  Map: 3,
  Set: 4,
  WeakMap: 5,
  WeakSet: 6,
  DisposableStack: 7,
  AsyncDisposableStack: 8,
  Intl: 9,
  Math: 10,
  JSON: 11,
  Reflect: 12,
  Proxy: 13,
  eval: 14,
  isFinite: 14,
  isNaN: 14,
  decodeURI: 14,
  decodeURIComponent: 14,
  encodeURI: 14,
  encodeURIComponent: 14,
  escape: 14,
  unescape: 14,
} as unknown as Readonly<Record<string | symbol, number | undefined>>;

/** Returns the names of numbered groups that occur anywhere in the code. */
export function findLanguageNames(code: string): string[] {
  return Object.keys(LANGUAGE_NAMES).filter((name) => LANGUAGE_NAMES[name] !== AT_HAND && code.includes(name));
}

/** The global name under which `runPlugin(main)` leaves the function of a plugin that exports none. */
export const RUN_PLUGIN = '__isolayer_run_plugin__';

/**
 * The global name of the list in which a bundle notes its namespace objects (`import * as …`). They are closed once the
 * module has run: calls share them.
 */
export const NAMESPACES = '__isolayer_namespaces__';
