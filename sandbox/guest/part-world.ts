import type { AskForFetch } from './globals/fetch/fetch.ts';
import type { RequestWorld } from './globals/fetch/request.ts';
import type { StreamClasses } from './globals/streams.ts';
import type { CryptoQuestion } from './host-function.ts';
import type { HostLink } from './host-link.ts';
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
  setTimer(callback: () => void, delayMs: number): unknown;
  /** What asks for the fetches of the plugin call that runs now, and of no other. */
  asker(): AskForFetch;
  /** At most 65536 random bytes, as characters of code 0 to 255. */
  random(bytes: number): string;
  /** Base64, or undefined when the question is refused. */
  compute(question: CryptoQuestion): string | undefined;
  /** The plugin's global object. */
  readonly global: Record<string, unknown>;
  /** What a part that is a module of Node's has made. */
  large(name: LargeModule): Record<string, unknown>;
  streams(): StreamClasses;
  loadedStreams(): StreamClasses | undefined;
}

/** What a part's text evaluates to: makes the names that the part stands for. */
export type Part = (world: PartWorld) => Record<string, unknown>;
