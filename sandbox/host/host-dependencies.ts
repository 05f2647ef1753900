import { END_CODES, type EndCode } from '../protocol.ts';

/** Time as a parameter, so that tests control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some moment; never goes back. For durations. */
  elapsed(): number;
}

/** Where the sandbox reports what its operator has to know. */
export interface Log {
  warn(details: object, text: string): void;
  error(details: object, text: string): void;
}

/** Tells whether the caller still waits for the answer. It has the members of an AbortSignal that a call needs. */
export interface CallerSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options: { once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A failure before or around the plugin's own code; `details` goes to the caller. */
export interface HostFailure {
  code: string;
  message: string;
  status: number;
  details?: { [key: string]: string | number | null };
  /** Seconds. */
  retryAfter?: number;
  /** What to do about the failure. For operators only, like `report`. */
  hint?: string;
  /** The stack of the thrown error, with its causes. */
  report?: string;
}

/** A failure with one of the sandbox's own codes, whose status the protocol fixes. */
export function endCodeFailure(code: EndCode, message: string, retryAfter?: number): HostFailure {
  const failure = { code, message, status: END_CODES[code].status };
  return retryAfter === undefined ? failure : { ...failure, retryAfter };
}
