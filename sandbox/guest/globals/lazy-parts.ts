import { SafeMap } from '../intrinsics/primordials.ts';
import type { PartName } from '../part-name.ts';
import type { Part, PartWorld } from '../part-world.ts';

/** The names of each part that has any, as they appear on the global object. */
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
} as const satisfies Partial<Record<PartName, readonly string[]>>;

/** The parts of the runtime that most plugins do not need: each is loaded once, by the first look at one of its names. */
export class LazyParts {
  readonly #load: (name: PartName) => Part;
  readonly #makeWorld: () => PartWorld;
  #world: PartWorld | undefined;
  readonly #loaded = new SafeMap<PartName, Record<string, unknown>>();

  constructor(load: (name: PartName) => Part, makeWorld: () => PartWorld) {
    this.#load = load;
    this.#makeWorld = makeWorld;
  }

  /** What a part made; it is loaded when nobody has asked before. */
  get(name: PartName): Record<string, unknown> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    this.#world ??= this.#makeWorld();
    const made = this.#load(name)(this.#world);
    this.#loaded.set(name, made);
    return made;
  }

  peek(name: PartName): Record<string, unknown> | undefined {
    return this.#loaded.get(name);
  }
}
