import { DOMException } from './dom-exception.ts';

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const toStringTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;

/** A deep copy that keeps cycles and shared references (HTML 2.7); functions, symbols and the like cannot be copied. */
export function structuredClone(value: unknown, options?: { transfer?: readonly unknown[] }): unknown {
  if ((options?.transfer?.length ?? 0) > 0) throw uncloneable('A transferred object');
  return copy(value, new Map());
}

type Copies = Map<object, object>;

function copy(value: unknown, copies: Copies): unknown {
  if (typeof value === 'symbol') throw uncloneable(String(value));
  if (typeof value === 'function') throw uncloneable(`function ${value.name}`);
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const keep = <T extends object>(made: T): T => {
    copies.set(value, made);
    return made;
  };
  return copyLeaf(value, keep, copies) ?? copyContainer(value, keep, copies);
}

type Keep = <T extends object>(made: T) => T;

/** Copies what holds no further values to be walked; null for the others. */
function copyLeaf(value: object, keep: Keep, copies: Copies): object | null {
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
    return keep(Object(value.valueOf()) as object);
  }
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  return ArrayBuffer.isView(value) ? keep(copyView(value, copies)) : null;
}

/** Views of one buffer stay views of one buffer. */
function copyView(view: ArrayBufferView, copies: Copies): object {
  const buffer = copy(view.buffer, copies) as ArrayBuffer;
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
  const kind = toStringTag.call(view) as 'Uint8Array';
  const { length } = view as Uint8Array;
  return new globalThis[kind](buffer, view.byteOffset, length);
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
  const made = keep(Object.create(Kind.prototype) as object);
  const fill = (name: string, value: unknown) =>
    Object.defineProperty(made, name, { value, writable: true, enumerable: false, configurable: true });
  fill('message', String(error.message));
  fill('stack', String(error.stack));
  if ('cause' in error) fill('cause', copy(error.cause, copies));
  return made;
}

function uncloneable(what: string): DOMException {
  return new DOMException(`${what} could not be cloned.`, 'DataCloneError');
}
