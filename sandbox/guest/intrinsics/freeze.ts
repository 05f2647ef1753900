import type { Intrinsic } from './intrinsics.ts';
import {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  NativeTypeError,
  ownKeys,
  SafeMap,
  toText,
} from './primordials.ts';

/**
 * Freezes shared objects. Properties that libraries assign on inheriting objects become accessors whose setter defines
 * an own property on the receiver, because a frozen one makes that assignment fail (the "override mistake" of ECMA-262
 * OrdinarySet, remedied as in SES). It keeps one call's slips from the next; nothing that keeps the isolate apart
 * depends on it. Every built-in that is changed at all costs something, so what V8 has fast paths for stays.
 */
export class Freezer {
  /** One for each key, whatever the objects that it is on. */
  readonly #setters = new SafeMap<string | symbol, (replacement: unknown) => void>();
  // Used for one property after the other: new ones would be a good part of what an isolate is made of.
  readonly #accessor = { __proto__: null, enumerable: false, configurable: false } as PropertyDescriptor;
  readonly #fixedValue = { __proto__: null, writable: false, configurable: false } as PropertyDescriptor;
  readonly #fixedAccessor = { __proto__: null, configurable: false } as PropertyDescriptor;

  freeze(intrinsics: readonly Intrinsic[]): void {
    for (let index = 0; index < intrinsics.length; index++) this.#freeze(intrinsics[index] as Intrinsic);
  }

  #freeze({ object, assigned, open }: Intrinsic): void {
    this.#allowAssigning(object, assigned === 'all' ? ownKeys(object) : assigned, open);
    if (open.length === 0) {
      freeze(object);
      return;
    }
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol;
      if (!includes(open, key)) this.#fix(object, key);
    }
  }

  #fix(object: object, key: string | symbol): void {
    const property = getOwnPropertyDescriptor(object, key);
    if (property === undefined || !property.configurable) return;
    defineProperty(object, key, 'value' in property ? this.#fixedValue : this.#fixedAccessor);
  }

  #allowAssigning(object: object, keys: readonly (string | symbol)[], except: readonly string[]): void {
    const accessor = this.#accessor;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol;
      const property = getOwnPropertyDescriptor(object, key);
      if (property === undefined || !property.configurable || !('value' in property) || includes(except, key)) continue;
      const value = property.value as unknown;
      accessor.get = () => value;
      accessor.set = this.#setterOf(key);
      accessor.enumerable = property.enumerable === true;
      defineProperty(object, key, accessor);
    }
  }

  #setterOf(key: string | symbol): (replacement: unknown) => void {
    const known = this.#setters.get(key);
    if (known !== undefined) return known;
    const setter = setterOf(key);
    this.#setters.set(key, setter);
    return setter;
  }
}

function setterOf(key: string | symbol): (replacement: unknown) => void {
  const { set } = {
    set(this: object, replacement: unknown): void {
      const own = { __proto__: null, value: replacement, writable: true, enumerable: true, configurable: true };
      if (defineProperty(this, key, own as object)) return;
      // Only on the shared objects themselves is it the setter of an own property.
      throw new NativeTypeError(
        getOwnPropertyDescriptor(this, key)?.set === set
          ? `Cannot assign to read only property '${toText(key)}' of object`
          : `Cannot add property ${toText(key)}, object is not extensible`,
      );
    },
  };
  return set;
}

function includes(keys: readonly unknown[], wanted: unknown): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === wanted) return true;
  return false;
}
