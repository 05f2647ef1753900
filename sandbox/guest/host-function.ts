/** What the child process and the guest runtime say to each other inside the child: types only. Messages are the protocol's. */
import type { Limits } from '../protocol.ts';

/**
 * The one function the guest runtime is given. It runs synchronously in the child, outside the isolate, takes and
 * returns text, and is captured by the runtime before plugin code exists.
 *
 * | op | text | answer |
 * | --- | --- | --- |
 * | `request` | `RequestMessage` | `""` or the text of an error |
 * | `log` | `LogEntry` | `""` |
 * | `done` | `Outcome` | `""` |
 * | `retire` | `""` | `""`; the isolate serves no other call |
 * | `timer` | `id delayMs` | `""` or the text of an error |
 * | `clear` | timer id | `""` |
 * | `random` | number of bytes, at most 65536 | that many characters of code 0 to 255 |
 * | `url` | {@link UrlQuestion} | {@link UrlParts}, or `""` when invalid |
 * | `now` | `""` | milliseconds since the isolate began, with a fraction |
 * | `part` | name of a part of the runtime | its text, or `""` when there is none |
 * | `crypto` | `CryptoQuestion` | as the question says |
 * | `job` | number, space, `CryptoQuestion` | `""` or the text of an error; the answer comes as a `ReplyMessage`'s value |
 */
export type HostFunction = (op: HostOp, text: string) => string;

export type UrlQuestion = { url: string; base?: string } | { href: string; set: keyof UrlParts; value: string };

/** The parts of a URL as the WHATWG URL standard names them. */
export interface UrlParts {
  href: string;
  origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
}

export type HostOp =
  | 'request'
  | 'log'
  | 'done'
  | 'retire'
  | 'timer'
  | 'clear'
  | 'random'
  | 'url'
  | 'now'
  | 'part'
  | 'crypto'
  | 'job';

/** What `boot` returns to the child; each is entered under a slice. */
export interface GuestEntries {
  /** Prepares the world for the plugin's top level: env, filename. `text` is {@link GuestSetup}. */
  setup(text: string): void;
  /**
   * After the plugin's script has run: takes its exports away from the global, freezes the intrinsics. Answers with
   * `""`, or with a `LoadFailure` where the script threw or exports no handler.
   */
  seal(): string;
  /**
   * Starts the handler; `text` is an `InvocationContext`. The end arrives through `done`. False, and nothing has run, when
   * this call would meet what an earlier one has left behind.
   */
  invoke(text: string): boolean;
  /** A `ReplyMessage`. */
  reply(text: string): void;
  /** A timer that is due. */
  fire(id: number): void;
}

export interface GuestSetup {
  env: Record<string, string>;
  /** Whether the isolate may serve several calls: then none may change what the next one meets. */
  reused: boolean;
  /** What the plugin's code mentions of the names that most plugins do without, see `sandbox/language-names.ts`. */
  mentioned: string[];
  limits: Pick<Limits, 'result_bytes' | 'calls'>;
}
