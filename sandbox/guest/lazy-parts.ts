import type { Part, PartName, PartWorld } from './part-world.ts';
import { defineProperty, SafeMap } from './primordials.ts';

/** The names of each part, as they appear on the global object. */
export const PART_GLOBALS = {
  web: ['fetch', 'Headers', 'Request', 'Response', 'Blob', 'File', 'FormData'],
  streams: [
    'ReadableStream',
    'ReadableStreamDefaultReader',
    'ReadableStreamBYOBReader',
    'ReadableStreamDefaultController',
    'ReadableByteStreamController',
    'ReadableStreamBYOBRequest',
    'WritableStream',
    'WritableStreamDefaultWriter',
    'WritableStreamDefaultController',
    'TransformStream',
    'TransformStreamDefaultController',
    'ByteLengthQueuingStrategy',
    'CountQueuingStrategy',
    'TextDecoderStream',
    'TextEncoderStream',
  ],
  buffer: ['Buffer'],
  subtle: ['CryptoKey', 'SubtleCrypto'],
} as const satisfies Record<PartName, readonly string[]>;

/** The parts of the runtime that most plugins do not need: each is loaded once, by the first look at one of its names. */
export class LazyParts {
  readonly #load: (name: PartName) => Part;
  readonly #world: PartWorld;
  readonly #loaded = new SafeMap<PartName, Record<string, unknown>>();

  constructor(load: (name: PartName) => Part, world: PartWorld) {
    this.#load = load;
    this.#world = world;
  }

  /** What a part made; it is loaded when nobody has asked before. */
  get(name: PartName): Record<string, unknown> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const made = this.#load(name)(this.#world);
    this.#loaded.set(name, made);
    return made;
  }

  peek(name: PartName): Record<string, unknown> | undefined {
    return this.#loaded.get(name);
  }
}

/**
 * Puts a property on an object that is made when it is first read, and is an ordinary one from then on; whoever writes
 * it first has its own way.
 */
export function defineLazily(target: object, name: string, make: () => unknown): void {
  const settle = (value: unknown) => {
    defineProperty(target, name, {
      __proto__: null,
      value,
      writable: true,
      enumerable: false,
      configurable: true,
    } as object);
    return value;
  };
  defineProperty(target, name, {
    __proto__: null,
    get: () => settle(make()),
    set: settle,
    enumerable: false,
    configurable: true,
  } as object);
}
