/**
 * Shows the shared objects to packages that copy all their methods, in the form that these packages expect. In the
 * guest, some methods are accessors after the module has run, and some of the names are missing.
 */

const native = globalThis.Reflect;
const { toString } = Function.prototype;

/** A property as it was before it was frozen. Freezing may have made it an accessor. */
function getOwnPropertyDescriptor(target: object, key: PropertyKey): PropertyDescriptor | undefined {
  const property = native.getOwnPropertyDescriptor(target, key);
  if (property === undefined) return undefined;
  const { get, set, value, enumerable = false } = property;
  const isOurs = get !== undefined && set !== undefined && !native.apply(toString, get, []).includes('[native code]');
  if (get !== undefined && !isOurs) return property;
  // The packages copy this function too, and use it to look up properties of any value.
  const isSame = value === Object.getOwnPropertyDescriptor;
  const plain: unknown = isOurs ? native.apply(get, target, []) : isSame ? getOwnPropertyDescriptor : value;
  return { value: plain, writable: true, enumerable, configurable: true };
}

const plainReflect = Object.assign(Object.create(null) as object, own(native), { getOwnPropertyDescriptor });

function own(object: object): object {
  return Object.fromEntries(native.ownKeys(object).map((key) => [key, (object as Record<PropertyKey, unknown>)[key]]));
}

/** Stand-ins for names that the packages look up. They make no objects of these. */
const missing = {
  Atomics: {},
  WeakRef: class WeakRef {},
  FinalizationRegistry: class FinalizationRegistry {},
  Reflect: plainReflect,
};

// Object.create defines the names. Assignment would fail: the global object's names of the language are read-only, also
// for objects that inherit from it.
const plainGlobal = Object.create(globalThis, Object.getOwnPropertyDescriptors(missing)) as object;

export { plainGlobal as globalThis, plainReflect as Reflect };
