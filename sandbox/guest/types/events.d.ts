/** Events in plugins, and their sources: abort signals, message ports and the global object. */

interface EventSettings {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

declare class Event {
  constructor(type: string, settings?: EventSettings);
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly eventPhase: number;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly timeStamp: number;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}

type EventListener<E extends Event = Event> = ((event: E) => unknown) | { handleEvent(event: E): unknown };
type EventHandler<E extends Event = Event> = ((event: E) => unknown) | null;
interface ListenerSettings {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  signal?: AbortSignal;
}

declare class EventTarget {
  addEventListener(type: string, listener: EventListener | null, options?: boolean | ListenerSettings): void;
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}

declare class CustomEvent<T = unknown> extends Event {
  constructor(type: string, settings?: EventSettings & { detail?: T });
  readonly detail: T;
}

declare class MessageEvent<T = unknown> extends Event {
  constructor(type: string, settings?: EventSettings & { data?: T; origin?: string; ports?: MessagePort[] });
  readonly data: T;
  readonly origin: string;
  readonly lastEventId: string;
  readonly source: EventTarget | null;
  readonly ports: readonly MessagePort[];
}

declare class ErrorEvent extends Event {
  constructor(
    type: string,
    settings?: EventSettings & {
      message?: string;
      filename?: string;
      lineno?: number;
      colno?: number;
      error?: unknown;
    },
  );
  readonly message: string;
  readonly filename: string;
  readonly lineno: number;
  readonly colno: number;
  readonly error: unknown;
}

declare class PromiseRejectionEvent extends Event {
  constructor(type: string, settings: EventSettings & { promise: Promise<unknown>; reason?: unknown });
  readonly promise: Promise<unknown>;
  readonly reason: unknown;
}

declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static timeout(delayMs: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: EventHandler;
  throwIfAborted(): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class MessagePort extends EventTarget {
  private constructor();
  onmessage: EventHandler<MessageEvent>;
  onmessageerror: EventHandler<MessageEvent>;
  onclose: EventHandler;
  postMessage(message: unknown, transfer?: readonly (ArrayBuffer | MessagePort)[]): void;
  start(): void;
  close(): void;
}

declare class MessageChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;
}

/** Reports an error as if nothing had caught it. */
declare function reportError(error: unknown): void;

interface GlobalEvents {
  error: ErrorEvent;
  unhandledrejection: PromiseRejectionEvent;
  rejectionhandled: PromiseRejectionEvent;
}
declare function addEventListener<K extends keyof GlobalEvents>(
  type: K,
  listener: EventListener<GlobalEvents[K]> | null,
  options?: boolean | ListenerSettings,
): void;
declare function addEventListener(
  type: string,
  listener: EventListener | null,
  options?: boolean | ListenerSettings,
): void;
declare function removeEventListener<K extends keyof GlobalEvents>(
  type: K,
  listener: EventListener<GlobalEvents[K]> | null,
  options?: boolean | { capture?: boolean },
): void;
declare function removeEventListener(
  type: string,
  listener: EventListener | null,
  options?: boolean | { capture?: boolean },
): void;
declare function dispatchEvent(event: Event): boolean;

/** Called for an uncaught error. If it returns true, the error does not end the call. */
declare var onerror: ((message: string, file: string, line: number, column: number, error: unknown) => unknown) | null;
declare var onunhandledrejection: EventHandler<PromiseRejectionEvent>;
declare var onrejectionhandled: EventHandler<PromiseRejectionEvent>;

/** Numeric error codes from before errors had names. */
interface LegacyErrorCodes {
  readonly INDEX_SIZE_ERR: 1;
  readonly DOMSTRING_SIZE_ERR: 2;
  readonly HIERARCHY_REQUEST_ERR: 3;
  readonly WRONG_DOCUMENT_ERR: 4;
  readonly INVALID_CHARACTER_ERR: 5;
  readonly NO_DATA_ALLOWED_ERR: 6;
  readonly NO_MODIFICATION_ALLOWED_ERR: 7;
  readonly NOT_FOUND_ERR: 8;
  readonly NOT_SUPPORTED_ERR: 9;
  readonly INUSE_ATTRIBUTE_ERR: 10;
  readonly INVALID_STATE_ERR: 11;
  readonly SYNTAX_ERR: 12;
  readonly INVALID_MODIFICATION_ERR: 13;
  readonly NAMESPACE_ERR: 14;
  readonly INVALID_ACCESS_ERR: 15;
  readonly VALIDATION_ERR: 16;
  readonly TYPE_MISMATCH_ERR: 17;
  readonly SECURITY_ERR: 18;
  readonly NETWORK_ERR: 19;
  readonly ABORT_ERR: 20;
  readonly URL_MISMATCH_ERR: 21;
  readonly QUOTA_EXCEEDED_ERR: 22;
  readonly TIMEOUT_ERR: 23;
  readonly INVALID_NODE_TYPE_ERR: 24;
  readonly DATA_CLONE_ERR: 25;
}
interface DOMException extends Error, LegacyErrorCodes {
  readonly code: number;
}
declare var DOMException: LegacyErrorCodes & {
  readonly prototype: DOMException;
  new (message?: string, nameOrOptions?: string | { name?: string; cause?: unknown }): DOMException;
};
