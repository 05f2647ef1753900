import { getOwnPropertyDescriptor, getPrototypeOf } from './primordials.ts';

/** Names of what the language hands out by itself, by literals, operators and errors, in the order of ECMA-262 chapter 19. */
const ALWAYS_AT_HAND = [
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
  'String',
  'RegExp',
  'Array',
  'JSON',
  'Iterator',
  'Promise',
  'Reflect',
  'Proxy',
  'Intl',
];

/** Names behind which lies what nobody can reach by any other way, as long as nobody has looked at one of a group. */
const BEHIND_NAMES = [
  [
    'ArrayBuffer',
    'DataView',
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
  ],
  ['Date'],
  ['Map'],
  ['Set'],
  ['WeakMap'],
  ['WeakSet'],
  ['DisposableStack'],
  ['AsyncDisposableStack'],
] as const;

/** Prototypes that libraries build on by assignment, as the `buffer` package does on Uint8Array. */
const ASSIGNED_WHOLLY = ['Object', 'Function', 'Uint8Array', 'TypedArray'];

/** What libraries assign on objects that inherit from any other prototype: transpiled subclasses, mostly. */
const ASSIGNED = ['constructor', 'toString', 'toLocaleString', 'valueOf', 'name', 'message', 'push', 'then', 'next'];

/** Properties that libraries set on the Error constructor to shape stack traces; V8 reads them there. */
const STACK_SETTINGS = ['stackTraceLimit', 'prepareStackTrace'];

/** The property of Array.prototype by which V8 tells plain arrays from others. */
const ARRAY_CLASS = ['constructor'];

/**
 * What syntax makes in a realm. Evaluated there, as what stands here is of the runtime's realm: in tests that is the one
 * which all of them share, and it would be frozen instead.
 */
const SYNTAX = `({
  functions: [function* () {}, async () => {}, async function* () {}],
  iterators: [''[Symbol.iterator](), 'a'.matchAll(/a/g)],
  elements: [][Symbol.iterator](),
})`;

interface Samples {
  readonly functions: readonly { readonly constructor: { readonly name: string }; readonly prototype?: object }[];
  readonly iterators: readonly object[];
  readonly elements: object;
}

/** One shared object, and which of its properties may be assigned on objects that inherit from it. */
export interface Intrinsic {
  readonly object: object;
  readonly assigned: 'all' | readonly string[];
  /** Properties that stay as they are. */
  readonly open: readonly string[];
}

/** Shared objects that lie behind a group of global names, and the values of these names. */
export interface NamedIntrinsics {
  readonly names: readonly string[];
  readonly values: readonly object[];
  readonly intrinsics: readonly Intrinsic[];
}

/** The shared objects of a realm, by how a plugin comes to them. */
export interface Intrinsics {
  readonly atHand: readonly Intrinsic[];
  readonly behindNames: readonly NamedIntrinsics[];
}

const NONE: readonly never[] = [];

/** The shared objects as they are when the isolate begins: constructors with their prototypes, namespaces, iterators. */
export function collectIntrinsics(global: typeof globalThis): Intrinsics {
  const atHand: Intrinsic[] = [];
  for (const name of ALWAYS_AT_HAND) addValue(atHand, valueOf(global, name));
  addUnnamed(atHand, global);
  return { atHand, behindNames: BEHIND_NAMES.map((names) => collectBehind(global, names)) };
}

function collectBehind(global: object, names: readonly string[]): NamedIntrinsics {
  const values = names.map((name) => valueOf(global, name) as object);
  const intrinsics: Intrinsic[] = [];
  for (const value of values) addValue(intrinsics, value);
  if (names[0] === 'ArrayBuffer') addValue(intrinsics, getPrototypeOf(valueOf(global, 'Uint8Array') as object));
  if (names[0] === 'Map' || names[0] === 'Set') {
    addIterators(intrinsics, new (values[0] as new () => Map<never, never> | Set<never>)().keys());
  }
  return { names, values, intrinsics };
}

function valueOf(global: object, name: string): unknown {
  return getOwnPropertyDescriptor(global, name)?.value;
}

/** Adds what only the syntax leads to. */
function addUnnamed(found: Intrinsic[], global: typeof globalThis): void {
  const { eval: evaluate, Object } = global;
  const { functions, iterators, elements } = evaluate(SYNTAX) as Samples;
  for (const sample of functions) {
    addConstructor(found, sample.constructor);
    for (let at = sample.prototype as object | null | undefined; at; at = getPrototypeOf(at)) {
      if (at !== Object.prototype) found.push({ object: at, assigned: ASSIGNED, open: NONE });
    }
  }
  for (const iterator of iterators) addIterators(found, iterator);
  // An accessor as `next` of array iterators makes every spread ten times slower.
  found.push({ object: getPrototypeOf(elements) as object, assigned: NONE, open: NONE });
}

function addIterators(found: Intrinsic[], iterator: object): void {
  found.push({ object: getPrototypeOf(iterator) as object, assigned: ASSIGNED, open: NONE });
}

function addValue(found: Intrinsic[], value: unknown): void {
  if (typeof value === 'function') addConstructor(found, value);
  else if (typeof value === 'object' && value !== null) found.push({ object: value, assigned: NONE, open: NONE });
}

function addConstructor(found: Intrinsic[], constructor: { readonly name: string }): void {
  const { name } = constructor;
  const prototype = getOwnPropertyDescriptor(constructor, 'prototype')?.value as object | undefined;
  found.push({ object: constructor, assigned: NONE, open: name === 'Error' ? STACK_SETTINGS : NONE });
  // Any change of RegExp.prototype, even freezing it, makes every replace and split seven times slower.
  if (prototype === undefined || name === 'RegExp') return;
  const assigned = ASSIGNED_WHOLLY.includes(name) ? 'all' : ASSIGNED;
  // As an accessor it would make map, filter and slice four times slower.
  found.push({ object: prototype, assigned, open: name === 'Array' ? ARRAY_CLASS : NONE });
}
