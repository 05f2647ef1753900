import { enumerableKeys, getPrototypeOf, SafeMap } from '../intrinsics/primordials.ts';
import type { PartName } from '../part-name.ts';
import type { Part, PartWorld } from '../part-world.ts';

/** The global names of each part that has any. */
export const PART_GLOBALS = {
  dom: [
    'DOMException',
    'Event',
    'EventTarget',
    'AbortController',
    'AbortSignal',
    'structuredClone',
    'atob',
    'btoa',
    'crypto',
    'Crypto',
  ],
  text: ['TextEncoder', 'TextDecoder'],
  url: ['URL', 'URLSearchParams'],
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
  messages: [
    'CustomEvent',
    'ErrorEvent',
    'MessageEvent',
    'PromiseRejectionEvent',
    'MessageChannel',
    'MessagePort',
    'reportError',
    'addEventListener',
    'removeEventListener',
    'dispatchEvent',
  ],
  compression: ['CompressionStream', 'DecompressionStream'],
  'url-pattern': ['URLPattern'],
  performance: ['performance', 'Performance'],
} as const satisfies Partial<Record<PartName, readonly string[]>>;

/**
 * Holds the parts of the runtime that most plugins do not need. The first use of one of its names loads a part, once.
 */
export class LazyParts {
  readonly #load: (name: PartName) => Part;
  readonly #makeWorld: () => PartWorld;
  #world: PartWorld | undefined;
  readonly #prototypes = new SafeMap<object, true>();
  readonly #loaded = new SafeMap<PartName, Record<string, unknown>>();

  constructor(load: (name: PartName) => Part, makeWorld: () => PartWorld) {
    this.#load = load;
    this.#makeWorld = makeWorld;
  }

  /** The values that a part made. The first call loads the part. */
  get(name: PartName): Record<string, unknown> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    this.#world ??= this.#makeWorld();
    const made = this.#load(name)(this.#world);
    this.#remember(made);
    this.#loaded.set(name, made);
    return made;
  }

  /** Whether a value is an object of one of the classes that plugins see. */
  isPlatform(value: object): boolean {
    for (let at: object | null = value; at !== null; at = getPrototypeOf(at)) {
      if (this.#prototypes.has(at)) return true;
    }
    return false;
  }

  #remember(made: Record<string, unknown>): void {
    const names = enumerableKeys(made);
    for (let index = 0; index < names.length; index++) {
      const value = made[names[index] as string];
      const prototype: unknown = typeof value === 'function' ? value.prototype : undefined;
      if (typeof prototype === 'object' && prototype !== null) this.#prototypes.set(prototype, true);
    }
  }

  peek(name: PartName): Record<string, unknown> | undefined {
    return this.#loaded.get(name);
  }
}
