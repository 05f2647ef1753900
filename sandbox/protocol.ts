/**
 * What the host, its driver threads and the child processes say to each other. No service and no guest sees it:
 * `contract.ts` has what both do. Every receiver parses what it gets: a type here promises a shape and proves nothing.
 */

import {
  type CallOutcome,
  type CapabilityReply,
  type Confinement,
  FIXED_LIMITS,
  type Limits,
  type LoadFailure,
  type LogEntry,
  type RequestMessage,
  type Usage,
} from './contract.ts';

/** The protocol version of the host, the driver and the child. A peer that announces another version is refused. */
export const PROTOCOL_VERSION = 1;

// ---- Frames between the host and a child, on the child's fd 3 ---------------------------------------------

// Frames as in `frames.ts`. The number is the call's, or 0 for frames about no call. The payload is UTF-8 JSON text of
// the type named beside the kind.

/**
 * The descriptor of the child's journal: a file in which the child notes what it has not sent yet. A write to a file
 * wakes nobody. The host reads the file now and then, and when the child has died. The file consists of records,
 * big endian: `f64 offset | u32 length | u32 CRC-32 | bytes`. The offset counts all bytes that the child has ever sent
 * on the channel. The list ends at the first record that does not continue the record before it, or does not match its
 * checksum: that record is half written, or an old one.
 */
export const JOURNAL_FD = 4;
export const JOURNAL_HEADER_BYTES = 16;
/** Size of the journal: the child writes no further. */
export const JOURNAL_BYTES = 65_536;

/** Frames from the host down to the child. */
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

/** Frames from the child up to the host. */
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
  /** A {@link LogEntry}: its level, a space, its message. */
  LOG: 6,
  /** {@link DoneMessage}: the call has ended inside the child, and its handler has not returned. */
  DONE: 7,
  /** The number of isolates alive, in decimal digits: now and then, when it is not what was said last. */
  ISOLATES: 8,
  /**
   * The end of a call whose handler has returned, and LEAVE where none came before: the numbers of a {@link DoneMessage} in their order, between
   * spaces; after a newline, the JSON text of the result. Most calls end so, and the host reads no JSON for it.
   */
  RETURNED: 9,
} as const;

/**
 * Begins a lazy module in the text of the guest runtime. After it come the module's name, a newline, and, deflated and in
 * base64, an expression that evaluates to its function `create`. The runtime stands before the first one. It asks for a
 * module at its first use. Most processes never use most modules, so they keep them small.
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

/** The last frame of every call, even when the host ended the call. Each INVOKE gets one DONE or RETURNED. */
export interface DoneMessage {
  outcome: CallOutcome;
  usage: Usage;
  /** Log lines beyond the caps, which the child has not sent. */
  dropped_logs: number;
  /** Isolates alive in the child. */
  isolates: number;
}

/**
 * The size of a log entry's text in bytes, as it is in an answer or in the service's log. Both sides count by it: in JSON,
 * some characters take six times their room.
 */
export function logBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

// ---- Host and driver threads --------------------------------------------------------------------------------------

/** What every driver thread gets when the pool starts (piscina's `workerData`). */
export interface DriverData {
  protocol: number;
  /** The child's program: a script that evaluates to a function of Node's `require`, which runs it. */
  program: string;
  /** Absolute path of the native module that the program loads. */
  addon: string;
  door: DoorAddress;
}

/**
 * Where the host takes the channels of children. A thread connects there, says for which child, and hands the
 * connection to the child.
 */
export interface DoorAddress {
  /** A name of a Unix socket. */
  path: string;
  /** Proves that it is the thread that connects. */
  secret: string;
}

/** What a driver thread posts to its parent once, as soon as it can work. */
export interface DriverHello {
  /** The thread's id, which is piscina's `worker.id`. */
  thread: number;
  /** Carries {@link ToDriverMessages} down and {@link FromDriverMessages} up. */
  port: MessagePort;
  /** How the operating system confines the children of this thread. */
  confinement: Confinement;
  /** Whether the system lets the service raise the priority of a process that it has lowered. */
  comesBack: boolean;
}

/** The frame with which a thread opens a channel: the child's number, and the door's secret as its text. */
export const KNOCK = 0;

/** What the host posts to a driver thread: the messages that one turn of the host's loop has for the thread. */
export type ToDriverMessages = readonly ToDriverMessage[];

/** What a driver thread posts to the host. */
export type FromDriverMessages = readonly FromDriverMessage[];

/** How a child's process is to be watched from now on. */
export interface ProcessWatch {
  /** Whether guest code may run, so that it is sampled often. */
  busy: boolean;
  /** Resident memory at which the thread kills the process without asking, in bytes. */
  most_bytes: number;
  /** How far the nice values of its scheduling group and of its process are above the service's own. */
  group_nice: number;
  process_nice: number;
}

/** Messages from the host to a driver thread. */
export type ToDriverMessage =
  | { type: 'open'; child: number; journal_fd: number | null; watch: ProcessWatch }
  | { type: 'watch'; child: number; watch: ProcessWatch }
  /** Asks for a sample at once. */
  | { type: 'sample'; child: number }
  | { type: 'kill'; child: number }
  /** The bytes of a frame that is too large to be parsed by the host. */
  | { type: 'parse'; child: number; kind: number; payload: Uint8Array };

/** Messages from a driver thread to the host. */
export type FromDriverMessage =
  /** What the operating system says of a process. `pids` may be incomplete until the child's first frame. */
  | { type: 'sample'; child: number; pids: number[]; rss_bytes: number; taken_ms: number }
  | { type: 'parsed'; child: number; frame: ParsedFrame }
  /** The child could not be started, or its process caused an error. */
  | { type: 'failed'; child: number; detail: string }
  /** The last message of a child. */
  | ({ type: 'gone'; child: number } & ChildExit);

/** How a child ended. */
export interface ChildExit {
  /** Exit code, null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last bytes of its standard error. */
  stderr: string;
}

/** A frame of a child that has a payload, with the payload parsed. `bytes` is the payload's size. */
export type ParsedFrame =
  | { kind: typeof UP.READY; message: ReadyMessage }
  | { kind: typeof UP.LOADED; message: LoadedMessage }
  /** `refusal`: why no host should see this request. */
  | { kind: typeof UP.REQUEST; message: RequestMessage; refusal: string | null; bytes: number }
  | { kind: typeof UP.LOG; entry: LogEntry; bytes: number }
  | { kind: typeof UP.DONE | typeof UP.RETURNED; message: DoneMessage }
  | { kind: typeof UP.ISOLATES; isolates: number }
  /** What an honest child would not have sent. */
  | { kind: 'violation'; detail: string };

/**
 * How long evaluating a plugin's module may take, in milliseconds of wall time. A plugin whose calls may have longer
 * stretches, for a large library or a slow machine, gets the same time for its module.
 */
export function evaluationLimitMs({ slice_ms: sliceMs }: Pick<Limits, 'slice_ms'>): number {
  return Math.max(FIXED_LIMITS.evaluate_ms, sliceMs);
}
