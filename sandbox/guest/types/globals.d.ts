/**
 * The global names of plugins, in addition to those of the language. Web APIs follow their standards. Plugins cannot
 * reach files or other processes. They reach the network only with the `fetch` of `web.d.ts`.
 */

interface Console {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  /** Logged at level `debug`. */
  trace(...values: unknown[]): void;
  dir(value: unknown): void;
  dirxml(...values: unknown[]): void;
  table(value: unknown): void;
  group(...values: unknown[]): void;
  groupCollapsed(...values: unknown[]): void;
  groupEnd(): void;
  /** Logs at level `error` when the condition does not hold. */
  assert(condition: unknown, ...values: unknown[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  time(label?: string): void;
  timeLog(label?: string, ...values: unknown[]): void;
  timeEnd(label?: string): void;
  clear(): void;
}
declare var console: Console;

/** A timer. It is an object, as in Node. It converts to a number, so code for browsers works, too. */
interface TimerHandle {
  ref(): this;
  unref(): this;
  hasRef(): boolean;
  [Symbol.toPrimitive](): number;
}
declare function setTimeout<A extends unknown[]>(
  callback: (...args: A) => unknown,
  delayMs?: number,
  ...args: A
): TimerHandle;
// For callbacks whose parameter may be undefined, such as the `resolve` of a promise.
declare function setTimeout(callback: (nothing: void) => unknown, delayMs?: number): TimerHandle;
declare function setInterval<A extends unknown[]>(
  callback: (...args: A) => unknown,
  delayMs?: number,
  ...args: A
): TimerHandle;
declare function setInterval(callback: (nothing: void) => unknown, delayMs?: number): TimerHandle;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => unknown, ...args: A): TimerHandle;
declare function setImmediate(callback: (nothing: void) => unknown): TimerHandle;
declare function clearTimeout(timer?: TimerHandle | number | string | null): void;
declare function clearInterval(timer?: TimerHandle | number | string | null): void;
declare function clearImmediate(timer?: TimerHandle | number | string | null): void;
declare function queueMicrotask(callback: () => unknown): void;

declare class TextEncoder {
  readonly encoding: string;
  encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(input: string, destination: Uint8Array): { read: number; written: number };
}

/** Decodes all encodings of the Encoding Standard. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(init?: string | Iterable<readonly [string, string]> | Record<string, string> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}

declare class Performance extends EventTarget {
  private constructor();
  /** Milliseconds since the isolate began. */
  now(): number;
  readonly timeOrigin: number;
  toJSON(): object;
}
declare var performance: Performance;

/** Members that only V8 has. */
interface ErrorConstructor {
  captureStackTrace(target: object, without?: (...args: never[]) => unknown): void;
  stackTraceLimit: number;
}

declare function atob(data: string): string;
declare function btoa(data: string): string;
declare function structuredClone<T>(value: T, options?: { transfer?: readonly ArrayBuffer[] }): T;

declare class Navigator {
  private constructor();
  readonly userAgent: string;
  readonly platform: string;
  readonly language: string;
  readonly languages: readonly string[];
  readonly hardwareConcurrency: number;
  readonly onLine: boolean;
}
declare var navigator: Navigator;
declare var isSecureContext: true;
declare var self: typeof globalThis;
declare var global: typeof globalThis;

/** Loads a Node module that plugins have, or a package. */
// oxlint-disable-next-line typescript/no-explicit-any -- each module has its own names
declare function require(name: string): any;

interface ProcessStream {
  readonly isTTY: boolean;
  /** Writes the text to the log as one line. */
  write(text: unknown): boolean;
}

/**
 * A partial `process`: the environment entries that the plugin's configuration grants, and members that libraries look
 * for. It never emits an event.
 */
interface PluginProcess {
  env: Record<string, string | undefined>;
  readonly argv: string[];
  title: string;
  readonly version: string;
  readonly versions: Record<string, string | undefined>;
  readonly platform: string;
  readonly arch: string;
  exitCode?: number | undefined;
  readonly stdout: ProcessStream;
  readonly stderr: ProcessStream;
  cwd(): string;
  /** The uptime in seconds. */
  uptime(): number;
  hrtime: { (since?: [number, number]): [number, number]; bigint(): bigint };
  nextTick<A extends unknown[]>(callback: (...args: A) => unknown, ...args: A): void;
  nextTick(callback: (nothing: void) => unknown): void;
  emitWarning(warning: unknown): void;
  on(event: string, listener: (...args: never[]) => unknown): this;
  once(event: string, listener: (...args: never[]) => unknown): this;
  off(event: string, listener: (...args: never[]) => unknown): this;
  addListener(event: string, listener: (...args: never[]) => unknown): this;
  removeListener(event: string, listener: (...args: never[]) => unknown): this;
  removeAllListeners(event?: string): this;
  emit(event: string, ...args: unknown[]): boolean;
  listeners(event: string): unknown[];
  listenerCount(event: string): number;
}
declare var process: PluginProcess;
