import { defineProperty, freeze, NativeTypeError } from './intrinsics/primordials.ts';

/**
 * Puts properties on an object that are made when they are first read, and are ordinary ones from then on. Writing one
 * first replaces it. On an object that has been frozen meanwhile they stay accessors, and keep what they have made.
 */
export function defineLazily(
  target: object,
  names: readonly string[],
  make: (name: string, index: number) => unknown,
  enumerable = false,
): void {
  // Used for each in turn.
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
        // What inherits from the target gets a property of its own, as if the target had a plain one.
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
