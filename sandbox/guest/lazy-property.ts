import { defineProperty, freeze, NativeTypeError } from './intrinsics/primordials.ts';

/**
 * Defines properties whose values are made when they are first read. From then on they are ordinary properties. Writing
 * a property before its first read replaces it. If the object was frozen before that read, the properties stay
 * accessors and keep their values.
 */
export function defineLazily(
  target: object,
  names: readonly string[],
  make: (name: string, index: number) => unknown,
  enumerable = false,
): void {
  // Reused for each property.
  const lazy = { __proto__: null, enumerable, configurable: true } as PropertyDescriptor;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    let isMade = false;
    let value: unknown;
    lazy.get = freeze(() => {
      if (isMade) return value;
      value = make(name, index);
      isMade = true;
      settle(target, name, value, enumerable);
      return value;
    });
    const { set } = {
      set(this: object, given: unknown) {
        // An object that inherits from the target gets an own property, as if the target had a plain property.
        if (settle(this, name, given, enumerable || this !== target)) return;
        throw new NativeTypeError(`Cannot assign to read only property '${name}' of object`);
      },
    };
    lazy.set = freeze(set);
    defineProperty(target, name, lazy);
  }
}

function settle(target: object, name: string, value: unknown, enumerable: boolean): boolean {
  return defineProperty(target, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable,
    configurable: true,
  } as object);
}
