import { DOMException } from './dom-exception.ts';
import { tooFewArguments } from './web-idl.ts';

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const toStringTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;

const { isPrototypeOf } = Object.prototype;
const Generator = Object.getPrototypeOf(function* () {}).prototype as object;

/** Copies and moves the objects of the platform, which are not plain objects. */
export interface PlatformObjects {
  /** A copy. Null for a platform object that cannot be copied, undefined for any other object. */
  copy(value: object): object | null | undefined;
  /**
   * A function that transfers the object and returns the new owner's object. Null for an object that was transferred
   * already, undefined for one that cannot be transferred.
   */
  move?(value: object): (() => object) | null | undefined;
}

/** A copy, and the objects that were transferred with it, in the order of the transfer list. */
export interface CloneResult {
  readonly value: unknown;
  readonly moved: readonly object[];
}

/**
 * Makes the clone function of `structuredClone` and messages. It makes a deep copy that keeps cycles and shared
 * references (HTML 2.7). Functions, symbols and the like cannot be copied. Buffers and ports can be transferred, and
 * are empty here then.
 */
export function createCloning(platform: PlatformObjects) {
  return function clone(given: unknown, transfer: Iterable<unknown>): CloneResult {
    const owners = [...transfer].map((one) => transferable(one, platform));
    const named = owners.map(({ value }) => value);
    if (new Set(named).size < named.length) throw uncloneable('An object that is handed on twice');
    const shapes: Copies['shapes'] = new Map();
    const same = new Map<object, object>(named.map((value) => [value, value]));
    const copied = copy(given, { made: same, shapes, platform });
    // Transfers objects only after everything is copied. A view cannot change its buffer, so it is copied once more.
    if (owners.length === 0) return { value: copied, moved: [] };
    const moved = owners.map(({ move }) => move());
    const made = new Map<object, object>(named.map((value, index) => [value, moved[index] as object]));
    return { value: copy(copied, { made, shapes, platform }), moved };
  };
}

/** `structuredClone` itself. */
export function createStructuredClone(platform: PlatformObjects) {
  const clone = createCloning(platform);
  return function structuredClone(value: unknown, options: unknown = {}): unknown {
    if (arguments.length === 0) throw tooFewArguments('structuredClone', 1);
    return clone(value, transferListOf(options)).value;
  };
}

/** The transfer list in the options of a clone or a message (Web IDL 3.2.17). */
export function transferListOf(options: unknown): Iterable<unknown> {
  if (options === null || options === undefined) return [];
  if (typeof options !== 'object' && typeof options !== 'function') throw new TypeError('The options are no object');
  const { transfer = [] } = options as { transfer?: unknown };
  const isList = typeof transfer === 'object' && transfer !== null && Symbol.iterator in transfer;
  if (!isList) throw new TypeError('What is handed on is a list');
  return transfer as Iterable<unknown>;
}

interface Owned {
  readonly value: object;
  move(): object;
}

function transferable(value: unknown, platform: PlatformObjects): Owned {
  if (typeof value !== 'object' || value === null) throw new TypeError('What is handed on is no object');
  if (value instanceof ArrayBuffer && !value.detached) return { value, move: () => value.transfer() };
  const move = platform.move?.(value) ?? null;
  if (move === null) throw uncloneable(Object.prototype.toString.call(value));
  return { value, move };
}

/** Where a view lies in its buffer. A view loses this when its buffer is transferred. */
interface Shape {
  readonly offset: number;
  readonly length: number;
}

interface Copies {
  readonly made: Map<object, object>;
  readonly shapes: Map<object, Shape>;
  readonly platform: PlatformObjects;
}

function copy(value: unknown, copies: Copies): unknown {
  if (typeof value === 'symbol') throw uncloneable(String(value));
  if (typeof value === 'function') throw uncloneable(`function ${value.name}`);
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.made.get(value);
  if (known !== undefined) return known;
  const keep = <T extends object>(made: T): T => {
    copies.made.set(value, made);
    return made;
  };
  return copyLeaf(value, keep, copies) ?? copyContainer(value, keep, copies);
}

type Keep = <T extends object>(made: T) => T;

/** Copies a value that holds no further values; null for any other value. */
function copyLeaf(value: object, keep: Keep, copies: Copies): object | null {
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
    return keep(Object(value.valueOf()) as object);
  }
  if (value instanceof ArrayBuffer) {
    if (value.detached) throw uncloneable('A buffer that was handed on');
    return keep(value.slice(0));
  }
  if (value instanceof Symbol) throw uncloneable('A symbol');
  return ArrayBuffer.isView(value) ? keep(copyView(value, copies)) : null;
}

function shapeOf(view: ArrayBufferView): Shape {
  return { offset: view.byteOffset, length: view instanceof DataView ? view.byteLength : (view as Uint8Array).length };
}

/** Views of one buffer stay views of one buffer. */
function copyView(view: ArrayBufferView, copies: Copies): object {
  if (view.buffer instanceof ArrayBuffer && view.buffer.detached && !copies.shapes.has(view)) {
    throw uncloneable('A view of a buffer that was handed on');
  }
  const buffer = copy(view.buffer, copies) as ArrayBuffer;
  const isData = view instanceof DataView;
  const shape = copies.shapes.get(view) ?? shapeOf(view);
  const { offset, length } = shape;
  const made = isData
    ? new DataView(buffer, offset, length)
    : new globalThis[toStringTag.call(view) as 'Uint8Array'](buffer, offset, length);
  copies.shapes.set(made, shape);
  return made;
}

function copyContainer(value: object, keep: Keep, copies: Copies): object {
  if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, item] of [...value]) made.set(copy(key, copies), copy(item, copies));
    return made;
  }
  if (value instanceof Set) {
    const made = keep(new Set());
    for (const item of [...value]) made.add(copy(item, copies));
    return made;
  }
  const platform = copies.platform.copy(value);
  if (platform !== undefined && platform !== null) return keep(platform);
  if (platform === null || isPrototypeOf.call(Generator, value)) {
    throw uncloneable(Object.prototype.toString.call(value));
  }
  if (value instanceof Error) return copyError(value, keep, copies);
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
    throw uncloneable(Object.prototype.toString.call(value));
  }
  const made = keep(Array.isArray(value) ? holes(value.length) : {}) as Record<string, unknown>;
  for (const name of Object.keys(value)) {
    const item = copy((value as Record<string, unknown>)[name], copies);
    Object.defineProperty(made, name, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return made;
}

/** An array of nothing but holes, as a sparse array's copy begins. */
function holes(length: number): unknown[] {
  const list: unknown[] = [];
  list.length = length;
  return list;
}

function copyError(error: Error, keep: Keep, copies: Copies): object {
  const Kind = Object.hasOwn(ERRORS, error.name) ? ERRORS[error.name as keyof typeof ERRORS] : Error;
  const made = keep(new Kind());
  const fill = (name: string, value: unknown) =>
    Object.defineProperty(made, name, { value, writable: true, enumerable: false, configurable: true });
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  if (message !== undefined && 'value' in message) fill('message', `${message.value as string}`);
  fill('stack', String(error.stack));
  if ('cause' in error) fill('cause', copy(error.cause, copies));
  return made;
}

function uncloneable(what: string): DOMException {
  return new DOMException(`${what} could not be cloned.`, 'DataCloneError');
}
