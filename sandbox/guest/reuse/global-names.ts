import { LANGUAGE_NAMES } from '../../language-names.ts';
import { defineOwn } from '../intrinsics/freeze.ts';
import {
  defineProperty,
  deleteProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  NativeProxy,
  ownKeys,
  setPrototypeOf,
} from '../intrinsics/primordials.ts';

type Name = string | symbol;

/**
 * Manages the names of the global object. A name that is defined here gets its value when it is first read. Writing the
 * name before that replaces it. Once sealed, the names of the language stay as they are. Anything else that a call
 * writes on the global exists for this call, and the write reports that the isolate can serve no other call.
 */
export class GlobalNames {
  readonly #global: object;
  readonly #changed: () => void;
  /** Shared by all accessors. */
  readonly #state = { isSealed: false };

  /** @param changed called for each change of a sealed global */
  constructor(global: object, changed: () => void) {
    this.#global = global;
    this.#changed = changed;
  }

  define<N extends Name>(names: readonly N[], make: (name: N, index: number) => unknown): void {
    const global = this.#global;
    for (let index = 0; index < names.length; index++) this.#define(global, names[index] as N, index, make);
  }

  #define<N extends Name>(global: object, name: N, index: number, make: (name: N, index: number) => unknown): void {
    const state = this.#state;
    const changed = this.#changed;
    let isMade = false;
    let value: unknown;
    const lazy: PropertyDescriptor = {
      enumerable: false,
      configurable: true,
      get(): unknown {
        if (isMade) return value;
        value = make(name, index);
        isMade = true;
        return state.isSealed ? value : settle(global, name, value);
      },
      set(this: object, given: unknown): void {
        if (this !== global) {
          // An object that inherits from the global gets an own property, as if this were a plain property.
          defineOwn(this, name, given);
        } else if (state.isSealed) {
          changed();
          isMade = true;
          value = given;
        } else {
          settle(global, name, given);
        }
      },
    };
    freeze(lazy.get);
    freeze(lazy.set);
    defineProperty(global, name, lazy);
  }

  /** To be called once, when the plugin's module has run. */
  seal(): void {
    const global = this.#global;
    this.#state.isSealed = true;
    const names = ownKeys(global);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as Name;
      if (LANGUAGE_NAMES[name] !== undefined) continue;
      const property = getOwnPropertyDescriptor(global, name);
      if (property?.configurable === true && property.writable === true) {
        note(global, name, property.value, this.#changed, property.enumerable);
      }
    }
    freeze(getPrototypeOf(global) as object);
    takeFurther(global, this.#changed);
    freeze(global);
  }
}

/** Turns a property into an accessor that calls `changed` when it is written. */
export function note(object: object, key: Name, given: unknown, changed: () => void, enumerable = false): void {
  let value = given;
  const noting: PropertyDescriptor = {
    enumerable,
    configurable: false,
    get: () => value,
    set(this: object, replacement: unknown): void {
      if (this !== object) {
        defineOwn(this, key, replacement);
        return;
      }
      changed();
      value = replacement;
    },
  };
  freeze(noting.get);
  freeze(noting.set);
  defineProperty(object, key, noting);
}

function settle(target: object, name: Name, value: unknown): unknown {
  defineProperty(target, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  } as object);
  return value;
}

/**
 * Lets code add properties by assignment to an object that will be frozen. A proxy beneath the object, as its
 * prototype, stores these properties; otherwise the assignment would be an error. Each change calls `changed`.
 */
export function takeFurther(object: object, changed: () => void): void {
  const added = { __proto__: getPrototypeOf(object) } as object;
  const beneath: object = new NativeProxy(added, {
    __proto__: null,
    set(_target: object, name: Name, value: unknown, receiver: object) {
      if (receiver !== object && receiver !== beneath) return defineOwn(receiver, name, value);
      changed();
      return defineOwn(added, name, value);
    },
    defineProperty(_target: object, name: Name, property: PropertyDescriptor) {
      changed();
      return defineProperty(added, name, property);
    },
    deleteProperty(_target: object, name: Name) {
      changed();
      return deleteProperty(added, name);
    },
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  } as unknown as ProxyHandler<object>);
  setPrototypeOf(object, beneath);
}
