/**
 * What a plugin finds in its global scope beyond the language itself. Web APIs as their standards have them; nothing
 * here reaches a file or another process, and the network only by the `fetch` of `web.d.ts`.
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

/** A timer: an object as in Node, which is also a number as in browsers. */
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
declare function setInterval<A extends unknown[]>(
  callback: (...args: A) => unknown,
  delayMs?: number,
  ...args: A
): TimerHandle;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => unknown, ...args: A): TimerHandle;
declare function clearTimeout(timer?: TimerHandle | number | string | null): void;
declare function clearInterval(timer?: TimerHandle | number | string | null): void;
declare function clearImmediate(timer?: TimerHandle | number | string | null): void;
declare function queueMicrotask(callback: () => unknown): void;

declare class TextEncoder {
  readonly encoding: string;
  encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(input: string, destination: Uint8Array): { read: number; written: number };
}

/** Encodings: utf-8, utf-16le, windows-1252. */
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

interface Crypto {
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}
declare var crypto: Crypto;

interface PerformanceEntry {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
}

interface Performance {
  /** Milliseconds since the isolate began. */
  now(): number;
  readonly timeOrigin: number;
  mark(name: string, options?: { detail?: unknown; startTime?: number }): PerformanceEntry;
  measure(
    name: string,
    from?: string | { detail?: unknown; start?: string | number; end?: string | number; duration?: number },
    to?: string,
  ): PerformanceEntry;
  getEntries(): PerformanceEntry[];
  getEntriesByName(name: string, type?: string): PerformanceEntry[];
  getEntriesByType(type: string): PerformanceEntry[];
  clearMarks(name?: string): void;
  clearMeasures(name?: string): void;
}
declare var performance: Performance;

/** V8's own. */
interface ErrorConstructor {
  captureStackTrace(target: object, without?: (...args: never[]) => unknown): void;
  stackTraceLimit: number;
}

declare function atob(data: string): string;
declare function btoa(data: string): string;
declare function structuredClone<T>(value: T, options?: { transfer?: readonly ArrayBuffer[] }): T;

declare class DOMException extends Error {
  constructor(message?: string, nameOrOptions?: string | { name?: string; cause?: unknown });
  readonly code: number;
}

declare class Event {
  constructor(type: string, settings?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly defaultPrevented: boolean;
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}

type EventListener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };

declare class EventTarget {
  addEventListener(
    type: string,
    listener: EventListener | null,
    options?: boolean | { capture?: boolean; once?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}

declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static timeout(delayMs: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: Event) => unknown) | null;
  throwIfAborted(): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class CustomEvent<T = unknown> extends Event {
  constructor(type: string, settings?: { detail?: T; bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  readonly detail: T;
}

declare class MessagePort extends EventTarget {
  private constructor();
  onmessage: ((event: Event & { readonly data: unknown }) => unknown) | null;
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  start(): void;
  close(): void;
}

declare class MessageChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;
}

/** As an error that nobody caught. */
declare function reportError(error: unknown): void;

declare var navigator: {
  readonly userAgent: string;
  readonly language: string;
  readonly languages: readonly string[];
  readonly hardwareConcurrency: number;
};
declare var isSecureContext: true;
declare var self: typeof globalThis;
declare var global: typeof globalThis;

/** The environment entries that the plugin's configuration grants, and what libraries look for. */
declare var process: {
  env: Record<string, string | undefined>;
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
  cwd(): string;
  nextTick<A extends unknown[]>(callback: (...args: A) => unknown, ...args: A): void;
  hrtime: { (since?: [number, number]): [number, number]; bigint(): bigint };
};
