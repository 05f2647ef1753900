import type { TextDecoder } from './globals/encoding/text-decoder.ts';
import type { AskForFetch } from './globals/fetch/fetch.ts';
import type { RequestWorld } from './globals/fetch/request.ts';
import type { StreamClasses } from './globals/streams.ts';
import type { PlatformObjects } from './globals/structured-clone.ts';
import type { HostLink } from './host-link.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';
import type { LargeModule } from './part-name.ts';

/** What the runtime gives to its parts: they are scripts of their own and share no class with it but these. */
export interface PartWorld {
  /** The guest's own, which come with their parts when they are asked for. */
  readonly classes: Readonly<
    Pick<RequestWorld, 'URL' | 'URLSearchParams' | 'AbortSignal'> & {
      DOMException: new (message: string, name: string) => Error;
    }
  >;
  /** The parsing of URLs. */
  urls: Pick<HostLink, 'parseUrl' | 'changeUrl'>;
  /** Takes what escaped from a listener. */
  report(error: unknown): void;
  /** The class that has all encodings. */
  decoder(): typeof TextDecoder;
  /** The part with events. */
  dom(): Record<string, unknown>;
  /** Milliseconds since the isolate began, with a fraction. */
  now(): number;
  /** What clones and messages do with the objects of all parts. */
  readonly platform: Required<PlatformObjects>;
  setTimer(callback: () => void, delayMs: number): unknown;
  /** What asks for the fetches of the plugin call that runs now, and of no other. */
  asker(): AskForFetch;
  /** Gives back what all calls of an isolate share, frozen with all that it leads to once the module has run. */
  share<T extends object>(object: T): T;
  /** To be called where a call changes what outlives it. */
  changed(): void;
  /** Whether a call has begun: what the module itself leaves while it is loaded stays. */
  isInCall(): boolean;
  /** Has something done at the beginning of each call. */
  atCall(reset: () => void): void;
  /** `crypto.subtle`. */
  subtle(): unknown;
  /** At most 65536 random bytes, as characters of code 0 to 255. */
  random(bytes: number): string;
  /** The answer as {@link CryptoQuestion} says. */
  compute(question: CryptoQuestion): string;
  /** The same beside the guest, for what takes long. */
  computeLater(question: CryptoQuestion): Promise<string>;
  /** What the plugin has set as `onerror` and the like. */
  readonly handlers: Readonly<Record<string, unknown>>;
  /** The plugin's global object. */
  readonly global: Record<string, unknown>;
  /** What a part that is a module of Node's has made. */
  large(name: LargeModule): Record<string, unknown>;
  /** What knows the keys of Web Cryptography; nothing does as long as nobody has one. */
  webKeys(): unknown;
  streams(): StreamClasses;
  loadedStreams(): StreamClasses | undefined;
}

/** What a part's text evaluates to: makes the names that the part stands for. */
export type Part = (world: PartWorld) => Record<string, unknown>;
