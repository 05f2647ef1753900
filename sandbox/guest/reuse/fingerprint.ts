import { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } from '../intrinsics/primordials.ts';

/** The properties of an object as they were once: for what cannot be frozen. */
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

  /** Whether the object has these very properties and no other, and may be given some where it might. */
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
      // What a descriptor lacks takes the engine long to miss, and this is done for every call.
      if (isAccessor[index] === true) {
        if (now.get !== then.get || now.set !== then.set) return false;
      } else if (now.value !== then.value || now.writable !== then.writable) return false;
    }
    return getPrototypeOf(object) === this.#prototype && isExtensible(object) === this.#isExtensible;
  }
}
