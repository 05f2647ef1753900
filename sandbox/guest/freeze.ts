import {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  NativeTypeError,
  ownKeys,
  toText,
} from './primordials.ts';

/** Global names whose objects are shared by all code of the isolate, in the order of ECMA-262 chapter 19. */
const NAMES = [
  'Object',
  'Function',
  'Boolean',
  'Symbol',
  'Error',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'SuppressedError',
  'Number',
  'BigInt',
  'Math',
  'Date',
  'String',
  'RegExp',
  'Array',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'BigInt64Array',
  'BigUint64Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'ArrayBuffer',
  'DataView',
  'JSON',
  'Iterator',
  'Promise',
  'Reflect',
  'Proxy',
  'Intl',
  'DisposableStack',
  'AsyncDisposableStack',
];

/** Properties that libraries set on the Error constructor to shape stack traces; V8 reads them there. */
const STACK_SETTINGS = ['stackTraceLimit', 'prepareStackTrace'];

/** The shared objects as they are when the isolate begins: constructors, namespaces and the nameless ones. */
export function collectIntrinsics(global: object): object[] {
  const found: object[] = [];
  for (const name of NAMES) {
    const value = getOwnPropertyDescriptor(global, name)?.value as unknown;
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') found.push(value);
  }
  const iterators = [
    [][Symbol.iterator](),
    ''[Symbol.iterator](),
    new Map().keys(),
    new Set().keys(),
    'a'.matchAll(/a/g),
  ];
  const functions = [function* () {}, async () => {}, async function* () {}];
  return [
    ...found,
    getPrototypeOf(Uint8Array) as object,
    ...iterators.map((iterator) => getPrototypeOf(iterator) as object),
    ...functions.map((sample) => (sample as { constructor: object }).constructor),
    // %GeneratorPrototype% and %AsyncGeneratorPrototype%, with the iterator prototypes above them.
    ...[functions[0], functions[2]].flatMap((sample) => lineage(getPrototypeOf(sample?.prototype as object))),
  ];
}

/**
 * Freezes the shared objects in accessor form: each data property of a prototype becomes an accessor whose setter
 * defines an own property on the receiver, because plain freezing makes `error.name = …` or `obj.toString = …` fail on
 * every object that inherits (the "override mistake" of ECMA-262 OrdinarySet, remedied as in SES). It keeps one call's
 * slips from the next; nothing that keeps the isolate apart depends on it.
 */
export function freezeIntrinsics(intrinsics: readonly object[]): void {
  for (let index = 0; index < intrinsics.length; index++) {
    const intrinsic = intrinsics[index] as object;
    const prototype = getOwnPropertyDescriptor(intrinsic, 'prototype')?.value as unknown;
    if (typeof prototype === 'object' && prototype !== null) freezePrototype(prototype);
    if (typeof intrinsic === 'function') freezeConstructor(intrinsic);
    else if (hasOwn(intrinsic, 'constructor') || hasOwn(intrinsic, 'next')) freezePrototype(intrinsic);
    else freeze(intrinsic);
  }
}

function freezePrototype(prototype: object): void {
  const keys = ownKeys(prototype);
  for (let index = 0; index < keys.length; index++) allowOverride(prototype, keys[index] as string | symbol);
  freeze(prototype);
}

/** A constructor's own properties are fixed; the constructor of errors stays open for the stack settings. */
function freezeConstructor(constructor: object): void {
  if (!hasOwn(constructor, 'captureStackTrace')) {
    freeze(constructor);
    return;
  }
  const keys = ownKeys(constructor);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (key === STACK_SETTINGS[0] || key === STACK_SETTINGS[1]) continue;
    const property = getOwnPropertyDescriptor(constructor, key);
    if (property === undefined || !property.configurable) continue;
    const fixed = 'value' in property ? { writable: false, configurable: false } : { configurable: false };
    defineProperty(constructor, key, { __proto__: null, ...fixed } as object);
  }
}

function allowOverride(prototype: object, key: string | symbol): void {
  const property = getOwnPropertyDescriptor(prototype, key);
  if (property === undefined || !property.configurable || !('value' in property)) return;
  const value = property.value as unknown;
  const accessor = {
    __proto__: null,
    get() {
      return value;
    },
    set(this: object, replacement: unknown) {
      if (this === prototype)
        throw new NativeTypeError(`Cannot assign to read only property '${toText(key)}' of object`);
      const own = { __proto__: null, value: replacement, writable: true, enumerable: true, configurable: true };
      if (!defineProperty(this, key, own as object)) {
        throw new NativeTypeError(`Cannot add property ${toText(key)}, object is not extensible`);
      }
    },
    enumerable: property.enumerable === true,
    configurable: false,
  };
  defineProperty(prototype, key, accessor as object);
}

function lineage(start: object | null): object[] {
  const found: object[] = [];
  for (let at = start; at !== null && at !== Object.prototype; at = getPrototypeOf(at)) found.push(at);
  return found;
}
