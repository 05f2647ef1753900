import { createTypeChecks } from './type-checks.ts';

const is = createTypeChecks() as Record<
  | 'isDate'
  | 'isRegExp'
  | 'isMap'
  | 'isSet'
  | 'isWeakMap'
  | 'isWeakSet'
  | 'isArrayBuffer'
  | 'isArrayBufferView'
  | 'isNativeError'
  | 'isBoxedPrimitive'
  | 'isPromise',
  (value: unknown) => boolean
>;

const { hasOwn } = Object;

const { toString, propertyIsEnumerable } = Object.prototype;

/**
 * How two values are compared. `strict` compares as `===` does, and compares prototypes. Otherwise values compare as
 * with `==`.
 */
export interface Comparison {
  strict: boolean;
  skipPrototype?: boolean;
  /** Whether the first may have more than the second. */
  partial?: boolean;
}

type Pairs = Map<object, object>;

/** Node's deep equality (https://nodejs.org/api/assert.html#comparison-details). */
export function isDeepEqual(a: unknown, b: unknown, how: Comparison): boolean {
  return equal(a, b, how, new Map());
}

function equal(a: unknown, b: unknown, how: Comparison, seen: Pairs): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    if (how.strict || (typeof a === 'object' && a !== null) || (typeof b === 'object' && b !== null)) return false;
    // oxlint-disable-next-line eqeqeq -- that is what a loose comparison is
    return a == b || (Number.isNaN(a) && Number.isNaN(b));
  }
  if (how.strict && how.skipPrototype !== true && how.partial !== true && !sameClass(a, b)) return false;
  if (toString.call(a) !== toString.call(b)) return false;
  if (seen.has(a)) return seen.get(a) === b;
  seen.set(a, b);
  const result = sameKind(a, b, how, seen) && sameEntries(a, b, how, seen) && sameProperties(a, b, how, seen);
  seen.delete(a);
  return result;
}

/** Compares the constructors, as Node does. Compares the prototypes only if there is no constructor. */
function sameClass(a: object, b: object): boolean {
  if (a.constructor !== b.constructor) return false;
  return a.constructor !== undefined || Object.getPrototypeOf(a) === Object.getPrototypeOf(b);
}

/** Whether two objects are alike apart from their properties. */
function sameKind(a: object, b: object, how: Comparison, seen: Pairs): boolean {
  const { strict, partial = false } = how;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && (partial ? a.length >= b.length : a.length === b.length);
  }
  if (is.isDate(a) || is.isDate(b)) return is.isDate(a) && is.isDate(b) && Object.is(Number(a), Number(b));
  if (is.isRegExp(a) || is.isRegExp(b))
    return is.isRegExp(a) && is.isRegExp(b) && samePattern(a as RegExp, b as RegExp);
  if (is.isNativeError(a) || is.isNativeError(b) || a instanceof Error || b instanceof Error)
    return sameError(a as Error, b as Error, how, seen);
  if (is.isArrayBufferView(a))
    return is.isArrayBufferView(b) && sameBytes(a as Uint8Array, b as Uint8Array, strict, partial);
  if (is.isArrayBuffer(a))
    return (
      is.isArrayBuffer(b) &&
      sameBytes(new Uint8Array(a as ArrayBuffer), new Uint8Array(b as ArrayBuffer), true, partial)
    );
  if (is.isBoxedPrimitive(a) || is.isBoxedPrimitive(b)) {
    return is.isBoxedPrimitive(a) && is.isBoxedPrimitive(b) && Object.is(a.valueOf(), b.valueOf());
  }
  if (is.isMap(a) || is.isMap(b))
    return is.isMap(a) && is.isMap(b) && sameSize(a as Map<never, never>, b as Map<never, never>, partial);
  if (is.isSet(a) || is.isSet(b))
    return is.isSet(a) && is.isSet(b) && sameSize(a as Set<never>, b as Set<never>, partial);
  // The content of these objects cannot be seen, so two of them are never equal.
  return !(
    is.isWeakMap(a) ||
    is.isWeakSet(a) ||
    is.isPromise(a) ||
    is.isWeakMap(b) ||
    is.isWeakSet(b) ||
    is.isPromise(b)
  );
}

function sameSize(a: { size: number }, b: { size: number }, partial: boolean): boolean {
  return partial ? a.size >= b.size : a.size === b.size;
}

function samePattern(a: RegExp, b: RegExp): boolean {
  return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
}

/** Compares the fields of two errors that are not enumerable. */
function sameError(a: Error, b: Error, how: Comparison, seen: Pairs): boolean {
  if (!(a instanceof Error) || !(b instanceof Error)) return false;
  if (a.message !== b.message || a.name !== b.name) return false;
  const [first, second] = [a, b] as unknown as Record<string, unknown>[];
  return ['cause', 'errors'].every(
    (name) => hasOwn(a, name) === hasOwn(b, name) && equal(first?.[name], second?.[name], how, seen),
  );
}

function sameBytes(a: ArrayBufferView, b: ArrayBufferView, strict: boolean, partial: boolean): boolean {
  if (partial ? a.byteLength < b.byteLength : a.byteLength !== b.byteLength) return false;
  if (!strict && !(a instanceof DataView) && /Float/.test(toString.call(a))) {
    return [...(a as Uint8Array)].every((item, index) => item === (b as Uint8Array)[index]);
  }
  const [first, second] = [a, b].map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return second?.every((byte, index) => byte === first?.[index]) === true;
}

/** The entries of two maps or sets, in whatever order. */
function sameEntries(a: object, b: object, how: Comparison, seen: Pairs): boolean {
  if (is.isSet(a))
    return sameMembers([...(a as Set<unknown>)], [...(b as Set<unknown>)], (x, y) => equal(x, y, how, seen));
  if (!is.isMap(a)) return true;
  const pairs = (map: object) => [...(map as Map<unknown, unknown>)];
  return sameMembers(
    pairs(a),
    pairs(b),
    ([x, xValue], [y, yValue]) => equal(x, y, how, seen) && equal(xValue, yValue, how, seen),
  );
}

function sameMembers<T>(a: T[], b: T[], same: (a: T, b: T) => boolean): boolean {
  const left = [...a];
  return b.every((wanted) => {
    const index = left.findIndex((one) => same(one, wanted));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

function sameProperties(a: object, b: object, how: Comparison, seen: Pairs): boolean {
  const isView = is.isArrayBufferView(a);
  const wanted = keysOf(b, how.strict, isView);
  if (how.partial === true && Array.isArray(a)) return someInOrder(a, b as unknown[], how, seen);
  if (how.partial !== true && keysOf(a, how.strict, isView).length !== wanted.length) return false;
  const [first, second] = [a, b] as Record<PropertyKey, unknown>[];
  return wanted.every((key) => propertyIsEnumerable.call(a, key) && equal(first?.[key], second?.[key], how, seen));
}

/** Whether the items of `b` are among those of `a`, in the same order. */
function someInOrder(a: unknown[], b: unknown[], how: Comparison, seen: Pairs): boolean {
  let from = 0;
  return b.every((wanted) => {
    while (from < a.length && !equal(a[from], wanted, how, seen)) from += 1;
    from += 1;
    return from <= a.length;
  });
}

/** Own enumerable keys, without the indices of a view: its items are compared as bytes. */
function keysOf(object: object, withSymbols: boolean, isView: boolean): PropertyKey[] {
  const keys: PropertyKey[] = isView ? Object.keys(object).filter((key) => !/^\d+$/.test(key)) : Object.keys(object);
  if (!withSymbols) return keys;
  return keys.concat(Object.getOwnPropertySymbols(object).filter((key) => propertyIsEnumerable.call(object, key)));
}
