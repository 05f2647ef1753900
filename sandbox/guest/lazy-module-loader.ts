import type { TextDecoder } from './globals/encoding/text-decoder.ts';
import type { CallFetchCapability } from './globals/fetch/fetch.ts';
import type { RequestClasses } from './globals/fetch/request.ts';
import type { PlatformObjects } from './globals/structured-clone.ts';
import type { HostLink } from './host-link.ts';
import { enumerableKeys, getPrototypeOf, SafeMap } from './intrinsics/primordials.ts';
import type { StreamClasses } from './lazy/streams.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';

/** The modules of the runtime that an isolate loads when its plugin first asks for one of their names. */
export type LazyModuleName =
  | 'dom'
  | 'text'
  | 'url'
  | 'web'
  | 'streams'
  | 'buffer'
  | 'subtle'
  | 'modules'
  | 'messages'
  | 'performance'
  | 'compression'
  | 'url-pattern'
  | LazyNodeModule;

/** Lazy modules that are one of Node's modules, or a larger piece of one. */
type LazyNodeModule =
  | 'encodings'
  | 'assert'
  | 'events'
  | 'inspect'
  | 'legacy-url'
  | 'node-crypto'
  | 'node-keys'
  | 'stream';

/** The global names of each lazy module that has any. */
export const LAZY_GLOBALS = {
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
} as const satisfies Partial<Record<LazyModuleName, readonly string[]>>;

/**
 * What the runtime gives to its lazy modules. Each is a separate script, and shares only these classes with the
 * runtime.
 */
export interface RuntimeServices {
  /** The guest's own classes. The first use of a class loads its module. */
  readonly classes: Readonly<
    Pick<RequestClasses, 'URL' | 'URLSearchParams' | 'AbortSignal'> & {
      DOMException: new (message: string, name: string) => Error;
    }
  >;
  /** Parses URLs. */
  urls: Pick<HostLink, 'parseUrl' | 'changeUrl'>;
  /** Reports an error that a listener threw. */
  report(error: unknown): void;
  /** The TextDecoder class, which has all encodings. */
  decoder(): typeof TextDecoder;
  /** The lazy module `dom`, which has the event classes. */
  dom(): Record<string, unknown>;
  /** Milliseconds since the isolate or the durable call began, with a fraction. */
  now(): number;
  /** The moment from which `now` counts. */
  origin(): number;
  /** Copies and moves the objects of all lazy modules, for clones and messages. */
  readonly platform: Required<PlatformObjects>;
  setTimer(callback: () => void, delayMs: number): { unref(): unknown };
  /** A function that requests fetches for the plugin call that runs now, and for no other. */
  asker(): CallFetchCapability;
  /**
   * Returns the given object, which all calls of an isolate share. After the module has run, the object is frozen with
   * everything that it leads to.
   */
  share<T extends object>(object: T): T;
  /** To be called when a call changes something that outlives the call. */
  changed(): void;
  /** Whether a call has begun. State that the module leaves while it loads stays for all calls. */
  isInCall(): boolean;
  /** Runs `reset` at the beginning of each call, and when the module is to be evaluated anew. */
  atCall(reset: (isAnew: boolean) => void): void;
  /** `crypto.subtle`. */
  subtle(): unknown;
  /** At most 65536 random bytes, as characters of code 0 to 255. */
  random(bytes: number): string;
  /** Returns the answer in the format that {@link CryptoQuestion} describes. */
  compute(question: CryptoQuestion): string;
  /** Like `compute`, but runs beside the guest. For long computations. */
  computeLater(question: CryptoQuestion): Promise<string>;
  /** The handlers that the plugin has set, such as `onerror`. */
  readonly handlers: Readonly<Record<string, unknown>>;
  /** The plugin's global object. */
  readonly global: Record<string, unknown>;
  /** The values of a lazy module that is one of Node's modules, or a piece of one. */
  large(name: LazyNodeModule): Record<string, unknown>;
  /** What makes keys of Web Cryptography. Loads `subtle`. */
  webKeys(): unknown;
  streams(): StreamClasses;
  loadedStreams(): StreamClasses | undefined;
}

/** The value of a lazy module's text: a function that makes the values of its names. */
export type LazyModule = (services: RuntimeServices) => Record<string, unknown>;

/**
 * Holds the lazy modules of an isolate. The first use of one of a module's names loads it, once.
 */
export class LazyModules {
  readonly #load: (name: LazyModuleName) => LazyModule;
  readonly #makeServices: () => RuntimeServices;
  #services: RuntimeServices | undefined;
  readonly #prototypes = new SafeMap<object, true>();
  readonly #loaded = new SafeMap<LazyModuleName, Record<string, unknown>>();

  constructor(load: (name: LazyModuleName) => LazyModule, makeServices: () => RuntimeServices) {
    this.#load = load;
    this.#makeServices = makeServices;
  }

  /** The values that a lazy module made. The first call loads it. */
  get(name: LazyModuleName): Record<string, unknown> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    this.#services ??= this.#makeServices();
    const values = this.#load(name)(this.#services);
    this.#remember(values);
    this.#loaded.set(name, values);
    return values;
  }

  /** Whether a value is an object of one of the classes that plugins see. */
  isPlatform(value: object): boolean {
    for (let at: object | null = value; at !== null; at = getPrototypeOf(at)) {
      if (this.#prototypes.has(at)) return true;
    }
    return false;
  }

  #remember(values: Record<string, unknown>): void {
    const names = enumerableKeys(values);
    for (let index = 0; index < names.length; index++) {
      const value = values[names[index] as string];
      const prototype: unknown = typeof value === 'function' ? value.prototype : undefined;
      if (typeof prototype === 'object' && prototype !== null) this.#prototypes.set(prototype, true);
    }
  }

  /** The values of a lazy module that is loaded already. */
  peek(name: LazyModuleName): Record<string, unknown> | undefined {
    return this.#loaded.get(name);
  }
}
