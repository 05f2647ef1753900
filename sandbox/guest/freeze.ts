import {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
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

/** Prototypes that libraries build on by assignment, as the `buffer` package does on Uint8Array. */
const ASSIGNED_WHOLLY = ['Object', 'Function', 'Uint8Array', 'TypedArray'];

/** What libraries assign on objects that inherit from any other prototype: transpiled subclasses, mostly. */
const ASSIGNED = ['constructor', 'toString', 'toLocaleString', 'valueOf', 'name', 'message', 'push', 'then', 'next'];

/** Properties that libraries set on the Error constructor to shape stack traces; V8 reads them there. */
const STACK_SETTINGS = ['stackTraceLimit', 'prepareStackTrace'];

/** One shared object, and which of its properties may be assigned on objects that inherit from it. */
export interface Intrinsic {
  readonly object: object;
  readonly assigned: 'all' | readonly string[];
  /** Properties that stay as they are. */
  readonly open: readonly string[];
}

/** The shared objects as they are when the isolate begins: constructors with their prototypes, namespaces, iterators. */
export function collectIntrinsics(global: object): Intrinsic[] {
  const TypedArray = getPrototypeOf(getOwnPropertyDescriptor(global, 'Uint8Array')?.value) as { name: string };
  const found: Intrinsic[] = [];
  for (const name of NAMES) {
    const object = getOwnPropertyDescriptor(global, name)?.value as unknown;
    if (typeof object === 'function') found.push(...constructorAndPrototype(object));
    else if (typeof object === 'object' && object !== null) found.push({ object, assigned: [], open: [] });
  }
  found.push(...constructorAndPrototype(TypedArray));
  for (const sample of [function* () {}, async () => {}, async function* () {}]) {
    found.push(...constructorAndPrototype(sample.constructor));
    for (const object of lineage(sample.prototype)) found.push({ object, assigned: ASSIGNED, open: [] });
  }
  for (const iterator of [''[Symbol.iterator](), new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g)]) {
    found.push({ object: getPrototypeOf(iterator) as object, assigned: ASSIGNED, open: [] });
  }
  // An accessor as `next` of array iterators makes every spread ten times slower.
  found.push({ object: getPrototypeOf([][Symbol.iterator]()) as object, assigned: [], open: [] });
  return found;
}

/**
 * Freezes the shared objects. Properties that libraries assign on inheriting objects become accessors whose setter
 * defines an own property on the receiver, because a frozen one makes that assignment fail (the "override mistake" of
 * ECMA-262 OrdinarySet, remedied as in SES). It keeps one call's slips from the next; nothing that keeps the isolate
 * apart depends on it. Every built-in that is changed at all costs something, so what V8 has fast paths for stays.
 */
export function freezeIntrinsics(intrinsics: readonly Intrinsic[]): void {
  for (let index = 0; index < intrinsics.length; index++) freezeIntrinsic(intrinsics[index] as Intrinsic);
}

function constructorAndPrototype(constructor: { readonly name: string }): Intrinsic[] {
  const { name } = constructor;
  const prototype = getOwnPropertyDescriptor(constructor, 'prototype')?.value as object | undefined;
  const intrinsics: Intrinsic[] = [{ object: constructor, assigned: [], open: name === 'Error' ? STACK_SETTINGS : [] }];
  // Any change of RegExp.prototype, even freezing it, makes every replace and split seven times slower.
  if (prototype === undefined || name === 'RegExp') return intrinsics;
  const assigned = includes(ASSIGNED_WHOLLY, name) ? 'all' : ASSIGNED;
  // As an accessor it would make map, filter and slice four times slower.
  intrinsics.push({ object: prototype, assigned, open: name === 'Array' ? ['constructor'] : [] });
  return intrinsics;
}

function freezeIntrinsic({ object, assigned, open }: Intrinsic): void {
  if (assigned === 'all') allowAssigning(object, ownKeys(object));
  else allowAssigning(object, assigned, open);
  if (open.length === 0) {
    freeze(object);
    return;
  }
  const keys = ownKeys(object);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string | symbol;
    if (!includes(open, key)) fix(object, key);
  }
}

function fix(object: object, key: string | symbol): void {
  const property = getOwnPropertyDescriptor(object, key);
  if (property === undefined || !property.configurable) return;
  const fixed = 'value' in property ? { writable: false, configurable: false } : { configurable: false };
  defineProperty(object, key, { __proto__: null, ...fixed } as object);
}

function allowAssigning(object: object, keys: readonly (string | symbol)[], except: readonly string[] = []): void {
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string | symbol;
    const property = getOwnPropertyDescriptor(object, key);
    if (property === undefined || !property.configurable || !('value' in property) || includes(except, key)) continue;
    defineProperty(object, key, overridable(object, key, property));
  }
}

function overridable(owner: object, key: string | symbol, property: PropertyDescriptor): PropertyDescriptor {
  const value = property.value as unknown;
  return {
    __proto__: null,
    get() {
      return value;
    },
    set(this: object, replacement: unknown) {
      if (this === owner) throw new NativeTypeError(`Cannot assign to read only property '${toText(key)}' of object`);
      const own = { __proto__: null, value: replacement, writable: true, enumerable: true, configurable: true };
      if (!defineProperty(this, key, own as object)) {
        throw new NativeTypeError(`Cannot add property ${toText(key)}, object is not extensible`);
      }
    },
    enumerable: property.enumerable === true,
    configurable: false,
  } as PropertyDescriptor;
}

function includes(keys: readonly unknown[], wanted: unknown): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === wanted) return true;
  return false;
}

/** An object's prototypes below Object.prototype, nearest first. */
function lineage(object: unknown): object[] {
  const found: object[] = [];
  if (typeof object !== 'object' || object === null) return found;
  for (let at = getPrototypeOf(object); at !== null && at !== Object.prototype; at = getPrototypeOf(at)) found.push(at);
  return found;
}
