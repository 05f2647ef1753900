import type { Intrinsic, PropertyNames } from './intrinsics.ts';
import {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  NativeTypeError,
  ownKeys,
  preventExtensions,
  SafeMap,
  toText,
} from './primordials.ts';

/**
 * Freezes shared objects with their methods. This keeps one call's changes from the next; the isolation does not depend
 * on it. Properties that libraries assign on inheriting objects become accessors whose setter defines an own property
 * on the receiver. A frozen property would make that assignment fail (the "override mistake" of ECMA-262 OrdinarySet,
 * remedied as in SES). Changing a built-in costs speed, so built-ins for which V8 has fast paths stay as they are.
 */
export class Freezer {
  /** One setter for each key, shared by all objects. */
  readonly #setters = new SafeMap<string | symbol, (replacement: unknown) => void>();
  // Reused for all properties: making new descriptors would be a good part of the work of making an isolate.
  readonly #accessor = { __proto__: null, enumerable: false, configurable: false } as PropertyDescriptor;
  readonly #fixedValue = { __proto__: null, writable: false, configurable: false } as PropertyDescriptor;
  readonly #fixedAccessor = { __proto__: null, configurable: false } as PropertyDescriptor;

  freeze(intrinsics: readonly Intrinsic[]): void {
    for (let index = 0; index < intrinsics.length; index++) this.freezeOne(intrinsics[index] as Intrinsic);
  }

  /**
   * Freezes one object in a single loop without calls. The loop handles hundreds of properties that are new to the
   * engine; with calls it would take half of an isolate's making.
   */
  freezeOne({ object, assigned, open }: Intrinsic): void {
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol;
      const property = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      const { value, get, set } = property;
      // The methods of the language have no properties but their name and length, so a shallow freeze is enough. The
      // objects behind these two keys are frozen separately: `Function.prototype` is a function too.
      if (typeof value === 'function' && key !== 'constructor' && key !== 'prototype') freeze(value);
      if (get !== undefined) freeze(get);
      if (set !== undefined) freeze(set);
      if (assigned !== null && get === undefined && set === undefined && property.configurable === true) {
        if (assigned === 'all' || assigned[key] === true) this.#allowAssigning(object, key, property);
      }
    }
    if (open === null) freeze(object);
    else if (open !== 'all') this.#freezeAllBut(object, open);
  }

  #freezeAllBut(object: object, open: PropertyNames): void {
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol;
      const property = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      if (property.configurable !== true || open[key] === true) continue;
      defineProperty(object, key, 'value' in property ? this.#fixedValue : this.#fixedAccessor);
    }
    preventExtensions(object);
  }

  #allowAssigning(object: object, key: string | symbol, { value, enumerable = false }: PropertyDescriptor): void {
    const accessor = this.#accessor;
    const get: { (): unknown; originalValue?: unknown } = () => value as unknown;
    // Packages that read the language's own methods from descriptors look for this (the convention of SES and es-shims).
    get.originalValue = value;
    accessor.get = freeze(get);
    accessor.set = this.#setterOf(key);
    accessor.enumerable = enumerable;
    defineProperty(object, key, accessor);
  }

  #setterOf(key: string | symbol): (replacement: unknown) => void {
    const known = this.#setters.get(key);
    if (known !== undefined) return known;
    const setter = freeze(setterOf(key));
    this.#setters.set(key, setter);
    return setter;
  }
}

function setterOf(key: string | symbol): (replacement: unknown) => void {
  const { set } = {
    set(this: object, replacement: unknown): void {
      if (defineOwn(this, key, replacement)) return;
      // The setter belongs to an own property only on the shared objects themselves.
      throw new NativeTypeError(
        getOwnPropertyDescriptor(this, key)?.set === set
          ? `Cannot assign to read only property '${toText(key)}' of object`
          : `Cannot add property ${toText(key)}, object is not extensible`,
      );
    },
  };
  return set;
}

/** Does what an assignment does when no inherited property prevents it. */
export function defineOwn(object: object, key: string | symbol, value: unknown): boolean {
  const own = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
  return defineProperty(object, key, own as object);
}
