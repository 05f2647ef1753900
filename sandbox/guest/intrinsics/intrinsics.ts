import { AT_HAND, LANGUAGE_NAMES } from '../../language-names.ts';
import { enumerableKeys, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from './primordials.ts';

/** Names of properties. */
export type PropertyNames = Readonly<Record<string | symbol, true | undefined>>;

export function propertyNames(...names: readonly string[]): PropertyNames {
  const keys = { __proto__: null } as unknown as Record<string, true>;
  for (const name of names) keys[name] = true;
  return keys;
}

/** Prototypes on whose heirs libraries may assign any property, as the `buffer` package does on Uint8Array. */
const ASSIGNED_WHOLLY = propertyNames('Object', 'Function', 'Uint8Array', 'TypedArray');

/** Properties that libraries assign on arrays and on objects that inherit from them. */
const ASSIGNED_ON_ARRAYS = ['toString', 'toLocaleString', 'valueOf', 'name', 'message', 'push', 'then', 'next'];

/**
 * Properties that libraries assign on objects that inherit from any other prototype, mostly transpiled subclasses.
 * Arrays are without `constructor`: V8 tells plain arrays from others by it, and as an accessor it makes `map` six
 * times slower.
 */
export const ASSIGNABLE_PROPERTIES = propertyNames('constructor', ...ASSIGNED_ON_ARRAYS);
const ON_ARRAYS = propertyNames(...ASSIGNED_ON_ARRAYS);

/** Properties that libraries set on the Error constructor to shape stack traces; V8 reads them there. */
export const STACK_SETTINGS = ['stackTraceLimit', 'prepareStackTrace'];
const STACK_KEYS = propertyNames(...STACK_SETTINGS);

/** One shared object, and which of its properties may be assigned on objects that inherit from it. */
export interface Intrinsic {
  readonly object: object;
  readonly assigned: 'all' | PropertyNames | null;
  /** Properties that stay as they are. With `all`, the object itself is not frozen, only its methods are. */
  readonly open: 'all' | PropertyNames | null;
}

/** A group of global names, their values, and the shared objects behind them. */
export interface NamedIntrinsics {
  readonly names: string[];
  readonly values: unknown[];
  /** Shared objects behind these values that have no global name. */
  readonly unnamed: Intrinsic[];
}

/** The shared objects of a realm, grouped by how a plugin reaches them. */
export interface Intrinsics {
  readonly atHand: readonly Intrinsic[];
  readonly behindNames: readonly NamedIntrinsics[];
}

/**
 * Code that makes objects by syntax alone. It is evaluated in the guest's realm. Plain code in this file would make
 * objects of the runtime's realm. All tests share that realm, and it would be frozen instead.
 */
const SYNTAX = `({
  functions: [function* () {}, async () => {}, async function* () {}],
  iterators: [''[Symbol.iterator](), 'a'.matchAll(/a/g), [].values().take(1), Iterator.from({ next: () => 0 })],
  elements: [][Symbol.iterator](),
  errors: [new Error(), ((error) => (Error.captureStackTrace(error), error))({})],
})`;

interface Samples {
  readonly functions: readonly { readonly constructor: { readonly name: string }; readonly prototype?: object }[];
  readonly iterators: readonly object[];
  readonly elements: object;
  /** All errors share the getter and the setter of their stacks. */
  readonly errors: readonly object[];
}

/**
 * The shared objects as they are when the isolate begins: constructors with their prototypes, namespaces, iterators.
 */
export function collectIntrinsics(global: typeof globalThis): Intrinsics {
  const atHand: Intrinsic[] = [];
  const behindNames: NamedIntrinsics[] = [];
  for (const name of enumerableKeys(LANGUAGE_NAMES)) {
    const group = LANGUAGE_NAMES[name] as number;
    const value: unknown = getOwnPropertyDescriptor(global, name)?.value;
    if (value === undefined || value === global) continue;
    if (group === AT_HAND) addValue(atHand, value);
    else addNamed((behindNames[group - 1] ??= { names: [], values: [], unnamed: [] }), name, value);
  }
  addUnnamed(atHand, global);
  return { atHand, behindNames };
}

function addNamed({ names, values, unnamed }: NamedIntrinsics, name: string, value: unknown): void {
  names.push(name);
  values.push(value);
  if (name === 'Uint8Array') addValue(unnamed, getPrototypeOf(value as object));
  if (name === 'Map' || name === 'Set') {
    addIterators(unnamed, new (value as new () => Map<never, never> | Set<never>)().keys());
  }
}

/** All shared objects of a group. Collected only when code meets the group, because most isolates never do. */
export function intrinsicsBehind({ values, unnamed }: NamedIntrinsics): readonly Intrinsic[] {
  for (let index = 0; index < values.length; index++) addValue(unnamed, values[index]);
  return unnamed;
}

/** Adds the objects to which only syntax leads. */
function addUnnamed(found: Intrinsic[], { eval: evaluate, Object, Array, Function }: typeof globalThis): void {
  const { functions, iterators, elements, errors } = evaluate(SYNTAX) as Samples;
  for (const sample of functions) {
    addConstructor(found, sample.constructor);
    for (let at = sample.prototype as object | null | undefined; at; at = getPrototypeOf(at)) {
      if (at !== Object.prototype) add(found, { object: at, assigned: ASSIGNABLE_PROPERTIES, open: null });
    }
  }
  for (const iterator of iterators) addIterators(found, iterator);
  // An accessor as `next` of array iterators makes every spread ten times slower.
  add(found, { object: getPrototypeOf(elements) as object, assigned: null, open: null });
  add(found, { object: Array.prototype[Symbol.unscopables], assigned: null, open: null });
  addAccessors(found, getOwnPropertyDescriptor(Function.prototype, 'caller'));
  for (const error of errors) addAccessors(found, getOwnPropertyDescriptor(error, 'stack'));
}

function addAccessors(found: Intrinsic[], { get, set }: PropertyDescriptor = {}): void {
  if (get !== undefined) add(found, { object: get, assigned: null, open: null });
  if (set !== undefined) add(found, { object: set, assigned: null, open: null });
}

function add(found: Intrinsic[], intrinsic: Intrinsic): void {
  found[found.length] = intrinsic;
}

function addIterators(found: Intrinsic[], iterator: object): void {
  add(found, { object: getPrototypeOf(iterator) as object, assigned: ASSIGNABLE_PROPERTIES, open: null });
}

function addValue(found: Intrinsic[], value: unknown): void {
  if (typeof value === 'function') addConstructor(found, value);
  else if (typeof value === 'object' && value !== null) addNamespace(found, value);
}

/** Adds an object that holds functions, and maybe constructors and further namespaces (`Intl`, `Temporal`). */
function addNamespace(found: Intrinsic[], namespace: object): void {
  add(found, { object: namespace, assigned: null, open: null });
  const keys = ownKeys(namespace);
  for (let index = 0; index < keys.length; index++) {
    const value = getOwnPropertyDescriptor(namespace, keys[index] as string | symbol)?.value as unknown;
    if (typeof value === 'object' || hasPrototype(value)) addValue(found, value);
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'function' && getOwnPropertyDescriptor(value, 'prototype') !== undefined;
}

function addConstructor(found: Intrinsic[], constructor: { readonly name: string }): void {
  const { name } = constructor;
  const prototype = getOwnPropertyDescriptor(constructor, 'prototype')?.value as object | undefined;
  add(found, { object: constructor, assigned: null, open: name === 'Error' ? STACK_KEYS : null });
  if (prototype === undefined) return;
  // Any change of RegExp.prototype, even freezing it, makes every replace and split seven times slower.
  if (name === 'RegExp') add(found, { object: prototype, assigned: null, open: 'all' });
  else add(found, { object: prototype, assigned: assignedOn(name), open: null });
}

function assignedOn(name: string): Intrinsic['assigned'] {
  if (name === 'Array') return ON_ARRAYS;
  return ASSIGNED_WHOLLY[name] === true ? 'all' : ASSIGNABLE_PROPERTIES;
}
