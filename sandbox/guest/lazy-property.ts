import { defineProperty } from './intrinsics/primordials.ts';

/**
 * Puts properties on an object that are made when they are first read, and are ordinary ones from then on; whoever
 * writes one first has its own way.
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
    lazy.get = () => settle(target, name, make(name, index), enumerable);
    lazy.set = function (this: object, value: unknown) {
      // What inherits from the target gets a property of its own, as if the target had a plain one.
      settle(this, name, value, enumerable || this !== target);
    };
    defineProperty(target, name, lazy);
  }
}

function settle<T>(target: object, name: string, value: T, enumerable: boolean): T {
  defineProperty(target, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable,
    configurable: true,
  } as object);
  return value;
}
