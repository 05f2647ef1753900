import { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } from '../intrinsics/primordials.ts';

/** Records the properties of an object that cannot be frozen, to detect later changes. */
export class Fingerprint {
  readonly #object: object;
  readonly #prototype: object | null;
  readonly #keys: readonly (string | symbol)[];
  readonly #properties: readonly PropertyDescriptor[];
  readonly #isAccessor: readonly boolean[];
  readonly #isExtensible: boolean;

  constructor(object: object) {
    const keys = ownKeys(object);
    const properties: PropertyDescriptor[] = [];
    const isAccessor: boolean[] = [];
    for (let index = 0; index < keys.length; index++) {
      const property = getOwnPropertyDescriptor(object, keys[index] as string | symbol) as PropertyDescriptor;
      properties[index] = property;
      isAccessor[index] = 'get' in property;
    }
    this.#object = object;
    this.#prototype = getPrototypeOf(object);
    this.#keys = keys;
    this.#properties = properties;
    this.#isAccessor = isAccessor;
    this.#isExtensible = isExtensible(object);
  }

  /** Whether the object still has exactly these properties, the same prototype and the same extensibility. */
  matches(): boolean {
    const object = this.#object;
    const keys = this.#keys;
    const properties = this.#properties;
    const isAccessor = this.#isAccessor;
    if (ownKeys(object).length !== keys.length) return false;
    for (let index = 0; index < keys.length; index++) {
      const now = getOwnPropertyDescriptor(object, keys[index] as string | symbol);
      const then = properties[index] as PropertyDescriptor;
      if (now === undefined || now.configurable !== then.configurable || now.enumerable !== then.enumerable)
        return false;
      // Reads only the fields that the descriptor has: looking up absent fields is slow, and this runs for every call.
      if (isAccessor[index] === true) {
        if (now.get !== then.get || now.set !== then.set) return false;
      } else if (now.value !== then.value || now.writable !== then.writable) return false;
    }
    return getPrototypeOf(object) === this.#prototype && isExtensible(object) === this.#isExtensible;
  }
}
