import type { TextDecoder } from './globals/encoding/text-decoder.ts';
import type { AskForFetch } from './globals/fetch/fetch.ts';
import type { RequestWorld } from './globals/fetch/request.ts';
import type { StreamClasses } from './globals/streams.ts';
import type { PlatformObjects } from './globals/structured-clone.ts';
import type { HostLink } from './host-link.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';
import type { LargeModule } from './part-name.ts';

/**
 * What the runtime gives to its parts. Each part is a separate script and shares only these classes with the runtime.
 */
export interface PartWorld {
  /** The guest's own classes. The first use of a class loads its part. */
  readonly classes: Readonly<
    Pick<RequestWorld, 'URL' | 'URLSearchParams' | 'AbortSignal'> & {
      DOMException: new (message: string, name: string) => Error;
    }
  >;
  /** Parses URLs. */
  urls: Pick<HostLink, 'parseUrl' | 'changeUrl'>;
  /** Reports an error that a listener threw. */
  report(error: unknown): void;
  /** The TextDecoder class, which has all encodings. */
  decoder(): typeof TextDecoder;
  /** The part `dom`, which has the event classes. */
  dom(): Record<string, unknown>;
  /** Milliseconds since the isolate began, with a fraction. */
  now(): number;
  /** Copies and moves the objects of all parts, for clones and messages. */
  readonly platform: Required<PlatformObjects>;
  setTimer(callback: () => void, delayMs: number): { unref(): unknown };
  /** A function that requests fetches for the plugin call that runs now, and for no other. */
  asker(): AskForFetch;
  /**
   * Returns the given object, which all calls of an isolate share. After the module has run, the object is frozen with
   * everything that it leads to.
   */
  share<T extends object>(object: T): T;
  /** To be called when a call changes something that outlives the call. */
  changed(): void;
  /** Whether a call has begun. State that the module leaves while it loads stays for all calls. */
  isInCall(): boolean;
  /** Runs `reset` at the beginning of each call. */
  atCall(reset: () => void): void;
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
  /** The values of a part that is one of Node's modules, or a piece of one. */
  large(name: LargeModule): Record<string, unknown>;
  /** The part of `subtle` that knows the keys of Web Cryptography. Loads `subtle`. */
  webKeys(): unknown;
  streams(): StreamClasses;
  loadedStreams(): StreamClasses | undefined;
}

/** The value of a part's text: a function that makes the values of the part's names. */
export type Part = (world: PartWorld) => Record<string, unknown>;
