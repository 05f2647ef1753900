/**
 * What the host, its driver threads and the child processes say to each other. No service and no guest sees it:
 * `contract.ts` has what both do. Every receiver parses what it gets: a type here promises a shape and proves nothing.
 */

import {
  type CallOutcome,
  type CallReport,
  type CallTask,
  type CapabilityReply,
  type ChildDeath,
  type Confinement,
  FIXED_LIMITS,
  type Limits,
  type LoadFailure,
  type PluginVersion,
  type RequestMessage,
  type Usage,
} from './contract.ts';

/** The protocol version of the host, the driver and the child. A peer that announces another version is refused. */
export const PROTOCOL_VERSION = 1;

// ---- Frames between a driver thread and its child, on the child's fd 3 ---------------------------------------------

// Frames as in `frames.ts`. The number is the call's, or 0 for frames about no call. The payload is UTF-8 JSON text of
// the type named beside the kind.

/**
 * The descriptor of the child's journal: a file in which the child notes what it has not sent yet. A write to a file
 * wakes no thread. The driver reads the file now and then, and when the child has died. The file consists of records,
 * big endian: `f64 offset | u32 length | u32 CRC-32 | bytes`. The offset counts all bytes that the child has ever sent
 * on the channel. The list ends at the first record that does not continue the record before it, or does not match its
 * checksum: that record is half written, or an old one.
 */
export const JOURNAL_FD = 4;
export const JOURNAL_HEADER_BYTES = 16;
/** Size of the journal: the child writes no further. */
export const JOURNAL_BYTES = 65_536;

/** Frames from the driver down to the child. */
export const DOWN = {
  /** {@link BootMessage}: the guest runtime; first frame of a child's life. */
  BOOT: 1,
  /** {@link PluginVersion}: the one plugin this child will ever serve, or a new version of it. */
  LOAD: 2,
  /**
   * {@link InvocationContext}, preceded by a line: the version and, for a durable call, its seed and its start, between
   * spaces.
   */
  INVOKE: 3,
  /** {@link ReplyMessage} to a {@link RequestMessage}. */
  REPLY: 4,
  /** Empty. The call is over for the service: drop its isolate. */
  END: 5,
} as const;

/** Frames from the child up to the driver. */
export const UP = {
  /** {@link ReadyMessage}; answers BOOT. */
  READY: 1,
  /** {@link LoadedMessage}; answers LOAD. */
  LOADED: 2,
  /** Empty. Guest code of this call is about to run. */
  ENTER: 3,
  /** Empty. Guest code of this call has stopped running. */
  LEAVE: 4,
  /** {@link RequestMessage}: a capability call. */
  REQUEST: 5,
  /** {@link LogEntry}. */
  LOG: 6,
  /** {@link DoneMessage}: the call has ended inside the child. */
  DONE: 7,
  /** The number of isolates alive, in decimal digits: now and then, when it is not what was said last. */
  ISOLATES: 8,
} as const;

/**
 * Begins a lazy module in the text of the guest runtime. After it come the module's name, a newline, and an expression
 * that evaluates to its function `create`. The runtime stands before the first one. It asks for a module at its first
 * use.
 */
export const LAZY_MODULE_MARKER = '\n//@ lazy module ';

export interface BootMessage {
  protocol: number;
  /** Whether the child was given a {@link JOURNAL_FD}. */
  journal: boolean;
  /** The guest runtime's bundle: an expression that evaluates to the function `boot`, and its lazy modules. */
  runtime: string;
}

export interface ReadyMessage {
  protocol: number;
  node: string;
}

export interface LoadedMessage {
  version: string;
  /** Measured size of one waiting isolate, in bytes; 0 when the module did not evaluate. */
  isolate_bytes: number;
  /** Why the module could not be evaluated. All calls of this version then end with this outcome. */
  failure: LoadFailure | null;
}

export interface ReplyMessage {
  id: number;
  reply: CapabilityReply;
}

/** The last frame of every call, even when the driver ended the call. Each INVOKE gets one DONE. */
export interface DoneMessage {
  outcome: CallOutcome;
  usage: Usage;
  /** Log lines beyond the caps, which the child has not sent. */
  dropped_logs: number;
  /** Isolates alive in the child. */
  isolates: number;
}

// ---- Host and driver threads --------------------------------------------------------------------------------------

/** What every driver thread gets when the pool starts (piscina's `workerData`). */
export interface DriverData {
  protocol: number;
  /** The guest runtime's bundle. */
  runtime: string;
  /** The child's program: a script that evaluates to a function of Node's `require`, which runs it. */
  program: string;
  /** Absolute path of the native module that the program loads. */
  addon: string;
}

/** What the host posts to a driver thread: the messages that one turn of the host's loop has for the thread. */
export type ToDriverMessages = readonly (HostMessage | RunMessage)[];

/** What a driver thread posts to the host. */
export type FromDriverMessages = readonly (DriverMessage | ReportMessage)[];

/** Most messages that are posted together. With fewer, waking the other side costs more; with more, it is idle. */
export const MESSAGES_AT_ONCE = 8;

/** Runs a call. */
export type RunMessage = { type: 'run' } & CallTask;

/** Each {@link RunMessage} gets one. */
export interface ReportMessage {
  type: 'report';
  call: number;
  report: CallReport;
}

/** Messages from the host to a driver thread. */
export type HostMessage =
  | { type: 'open'; child: number }
  | { type: 'load'; child: number; version: PluginVersion }
  | { type: 'close'; child: number; reason: string }
  | { type: 'reply'; child: number; call: number; message: ReplyMessage }
  | { type: 'cancel'; child: number; call: number };

/** Messages from a driver thread to the host. `child` and `call` are stamped by the driver, never by the child. */
export type DriverMessage =
  | { type: 'spawned'; child: number; pids: number[]; confinement: Confinement }
  | { type: 'ready'; child: number }
  | { type: 'loaded'; child: number; message: LoadedMessage }
  | { type: 'request'; child: number; call: number; message: RequestMessage }
  | { type: 'meter'; child: number; rss_bytes: number; running: number; isolates: number }
  /** Comes before the reports of the calls that end with the child. `closed` follows when the child is gone. */
  | ({ type: 'dying'; child: number } & ChildDeath)
  /** The last message of a child; `stderr` is the last bytes of the child's standard error. */
  | ({ type: 'closed'; child: number; stderr: string } & ChildDeath);

/**
 * How long evaluating a plugin's module may take, in milliseconds of wall time. A plugin whose calls may have longer
 * stretches, for a large library or a slow machine, gets the same time for its module.
 */
export function evaluationLimitMs({ slice_ms: sliceMs }: Pick<Limits, 'slice_ms'>): number {
  return Math.max(FIXED_LIMITS.evaluate_ms, sliceMs);
}
