/**
 * The shared objects as a package expects them that makes a copy of all their methods: in the guest's world some of
 * these are accessors once the module has run, and some of the names are missing.
 */

const native = globalThis.Reflect;
const { toString } = Function.prototype;

/** A property as it was before it was frozen, in the form of an accessor maybe. */
function getOwnPropertyDescriptor(target: object, key: PropertyKey): PropertyDescriptor | undefined {
  const property = native.getOwnPropertyDescriptor(target, key);
  if (property === undefined) return undefined;
  const { get, set, value, enumerable = false } = property;
  const isOurs = get !== undefined && set !== undefined && !native.apply(toString, get, []).includes('[native code]');
  if (get !== undefined && !isOurs) return property;
  // They look properties up by this one as well, of whatever they show.
  const isSame = value === Object.getOwnPropertyDescriptor;
  const plain: unknown = isOurs ? native.apply(get, target, []) : isSame ? getOwnPropertyDescriptor : value;
  return { value: plain, writable: true, enumerable, configurable: true };
}

const plainReflect = Object.assign(Object.create(null) as object, own(native), { getOwnPropertyDescriptor });

function own(object: object): object {
  return Object.fromEntries(native.ownKeys(object).map((key) => [key, (object as Record<PropertyKey, unknown>)[key]]));
}

/** As the package looks them up; nobody makes objects of these. */
const missing = {
  Atomics: {},
  WeakRef: class WeakRef {},
  FinalizationRegistry: class FinalizationRegistry {},
  Reflect: plainReflect,
};

// Not by assignment: a name of the language that the global object has stays as it is, for heirs of it as well.
const plainGlobal = Object.create(globalThis, Object.getOwnPropertyDescriptors(missing)) as object;

export { plainGlobal as globalThis, plainReflect as Reflect };
