/**
 * Types of what the child process and the guest runtime exchange inside the child. The protocol defines the messages.
 */
import type { Limits } from '../contract.ts';

/**
 * The only function that the guest runtime is given. It runs synchronously in the child, outside the isolate. It takes
 * and returns text. The runtime captures it before plugin code exists.
 *
 * | op | text | answer |
 * | --- | --- | --- |
 * | `request` | `RequestMessage` | `""` or the text of an error |
 * | `log` | level, space, message of a `LogEntry` | `""` |
 * | `returned` | the JSON text of what the handler has returned | `""` |
 * | `done` | any other `CallOutcome` | `""` |
 * | `retire` | `""` | `""`; the isolate serves no other call |
 * | `impure` | `""` | `""`; the module has read the time or drawn a number while it loaded |
 * | `timer` | `id delayMs` | `""` or the text of an error |
 * | `clear` | timer id | `""` |
 * | `ref` | `id 1`, or `id 0` for a timer that may end with the call | `""` |
 * | `random` | number of bytes, at most 65536 | that many characters of code 0 to 255 |
 * | `url` | {@link UrlQuestion} | {@link UrlParts}, or `""` when invalid |
 * | `now` | `""` | milliseconds since the isolate began, with a fraction |
 * | `lazy` | name of a lazy module of the runtime | its text, or `""` when there is none |
 * | `crypto` | `CryptoQuestion` | as the question says |
 * | `job` | number, space, `CryptoQuestion` | `""` or the text of an error; the answer is a `ReplyMessage`'s value |
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
  | 'returned'
  | 'done'
  | 'retire'
  | 'impure'
  | 'timer'
  | 'clear'
  | 'ref'
  | 'random'
  | 'url'
  | 'now'
  | 'lazy'
  | 'crypto'
  | 'job';

/** The functions that `boot` returns to the child. The child calls each of them under a time slice. */
export interface GuestEntries {
  /** Prepares the globals before the plugin's top-level code runs. `text` is a {@link GuestSetup}. */
  setup(text: string): void;
  /** Takes the value of a lazy module, which the runtime need not ask for then. Before the plugin's script. */
  take(name: string, module: unknown): void;
  /**
   * Runs after the plugin's script. Takes its exports off the global object and freezes the intrinsics. Returns `""`,
   * or a `LoadFailure` when the script threw or exports no handler.
   */
  seal(): string;
  /**
   * Runs the plugin's module in a sealed world, in place of the one that ran before. `make` is the module as a function.
   * `now` is where the clock stands meanwhile, for a durable call. `settle` follows, when all that the module began has
   * run. Returns false, and runs nothing, when something was left behind.
   */
  evaluate(make: unknown, now?: number): boolean;
  /** Takes what `evaluate` has made. Returns as `seal` does. */
  settle(): string;
  /**
   * Starts the handler. `text` is an `InvocationContext`. The outcome arrives through `done`. Returns false, and runs
   * nothing, when the call would see what an earlier call has left behind. `now` is where the clock of a durable call
   * begins.
   */
  invoke(text: string, now?: number): boolean;
  /** Settles the call or job that a `ReplyMessage` answers. */
  reply(text: string): void;
  /** Runs a timer that is due. */
  fire(id: number): void;
}

export interface GuestSetup {
  env: Record<string, string>;
  /** Whether the isolate may serve several calls. If so, no call may change what the next call sees. */
  reused: boolean;
  /** Whether the host is to be told when the module changes, while it loads, what calls share: see `retire`. */
  tried: boolean;
  /** The rarely used names that the plugin's code mentions, see `sandbox/language-names.ts`. */
  mentioned: string[];
  /** Where the clock stands while the module is evaluated for a durable call. */
  now?: number | undefined;
  limits: Pick<Limits, 'result_bytes' | 'calls'>;
}
