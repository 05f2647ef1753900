/**
 * Messages between the service and guest code: their types, codes and limits. `capability-contract.ts` has the
 * parameters and results of each capability. Types, constants and one rule, so that the host, the driver threads, the child
 * process and the guest can all share this file. Every receiver parses what it gets: a type here promises a shape and
 * proves nothing.
 */

/** The protocol version of the host, the driver and the child. A peer that announces another version is refused. */
export const PROTOCOL_VERSION = 1;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What one plugin may consume. The keys are those of a plugin's `limits` in the configuration file. */
export interface Limits {
  /** Heap cap of one isolate, in MiB. A ceiling, never a reservation. */
  memory_mb: number;
  /** Resident memory at which the plugin's child process is killed, in MiB. */
  process_mb: number;
  /** Longest uninterrupted stretch of guest code, in milliseconds; longer on a crowded machine, see `Crowding`. */
  slice_ms: number;
  /** Sum of all stretches of one call, in milliseconds. */
  cpu_ms: number;
  /** Calls of the plugin that may run at once, over all its processes. */
  concurrency: number;
  /** Child processes the plugin may have. */
  processes: number;
  /** Capability calls one plugin call may make. */
  calls: number;
  /** Longest result, in bytes of JSON text. */
  result_bytes: number;
  /** Keys in the plugin's key-value store. */
  kv_keys: number;
  /** Keys and values of that store together, in bytes. */
  kv_bytes: number;
  /** Longest value in that store, in bytes of JSON text. */
  kv_value_bytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  memory_mb: 128,
  process_mb: 512,
  slice_ms: 500,
  cpu_ms: 1000,
  concurrency: 256,
  processes: 1,
  calls: 1000,
  result_bytes: 1_048_576,
  kv_keys: 100_000,
  kv_bytes: 64 * 1_048_576,
  kv_value_bytes: 1_000_000,
};

/** Limits that no configuration changes. */
export const FIXED_LIMITS = {
  /** Least time for evaluating a module, in milliseconds. Large SDKs take 0.5 s, much more on a busy machine. */
  evaluate_ms: 5000,
  /** How many times its length a slice may last by the clock, while other processes have the processor. */
  crowded_factor: 4,
  /** How long a child may stay inside the guest after the slice before it is killed, in milliseconds. */
  overdue_ms: 250,
  /** Largest frame the child accepts (a bundle or a context), in bytes. */
  down_frame_bytes: 16 * 1_048_576,
  /** Largest frame the driver accepts beyond `result_bytes`, in bytes. */
  up_frame_slack_bytes: 65_536,
  /** Largest capability request or reply, in bytes of JSON text. */
  request_bytes: 1_048_576,
  /** Captured log lines and bytes per call. Further lines are counted and dropped. */
  log_lines: 1000,
  log_bytes: 262_144,
  /** The same for uncaught errors. */
  uncaught_lines: 8,
  uncaught_bytes: 65_536,
  /** Unanswered capability calls and armed timers per plugin call. */
  pending_requests: 256,
  timers: 1024,
  /** Keys in one answer of `kv.listKeys`. A shorter answer is the last. */
  kv_page: 1000,
  /** Locks that one plugin call may hold at once. */
  locks: 64,
  /** Last bytes that are kept of a dead child's standard error. */
  stderr_bytes: 4096,
} as const;

/** Codes for calls that the plugin did not end by `return` or `throw`. `status` is the HTTP status of the answer. */
export const END_CODES = {
  TIMEOUT: { status: 504 },
  CPU_LIMIT: { status: 504 },
  MEMORY_LIMIT: { status: 500 },
  CALL_LIMIT: { status: 500 },
  RESULT_TOO_LARGE: { status: 500 },
  RESULT_NOT_SERIALIZABLE: { status: 500 },
  COMPILE_ERROR: { status: 500 },
  SANDBOX_LOST: { status: 503 },
  SERVICE_UNAVAILABLE: { status: 503 },
  CANCELED: { status: 499 },
} as const;

export type EndCode = keyof typeof END_CODES;

export type LogLevel = 'log' | 'info' | 'warn' | 'error' | 'debug';

export interface LogEntry {
  /**
   * `uncaught`: an error that no code of the plugin caught. It is shown as an error, and also goes to the service's
   * log. `ungranted`: the message is not a log line but the name of an environment entry that the plugin read without a
   * grant.
   */
  level: LogLevel | 'uncaught' | 'ungranted';
  message: string;
}

/** How a call ended. `json` and `details` are JSON texts made inside the guest; the host never sees guest objects. */
export type CallOutcome =
  | { kind: 'returned'; json: string }
  | { kind: 'threw'; message: string; code: string; status: number; details: string }
  | { kind: 'ended'; code: EndCode; message: string };

/** What a call consumed; measured by the child and, where it matters, again by the driver. */
export interface Usage {
  /** Sum of the guest's stretches, in milliseconds. */
  cpu_ms: number;
  /** Capability calls made. */
  calls: number;
  /** The isolate's heap at the end, in bytes. After a quick call it may be an earlier measurement. */
  heap_bytes: number;
}

/** The same, plus the bytes of JSON text into and out of the child. The driver counts these. */
export interface CallUsage extends Usage {
  /** The context, and the answers to capability calls. */
  bytes_in: number;
  /** Capability calls, and the result. */
  bytes_out: number;
}

/** The report that the host gets about one call, however it ended. */
export interface CallReport {
  outcome: CallOutcome;
  logs: LogEntry[];
  /** Log lines beyond the caps. */
  dropped_logs: number;
  usage: CallUsage;
  /** True when the child process died under the call, so that it may be run again if it had no effect. */
  lost: boolean;
}

/** The JSON that the guest's `invoke` gets as text. The guest makes the handler's context from it. */
export interface InvocationContext {
  params: Json;
  headers: Record<string, string[]>;
  route: string;
  /** Absent when the plugin's entry has none; the handler then sees `config: undefined`. */
  config?: { [key: string]: Json };
  method: string;
  query: Record<string, string[]>;
  caller: { keyId: string };
}

/** One compiled version of a plugin as a child process needs it. */
export interface PluginVersion {
  pluginId: string;
  /** Hash of the bundle and of everything below; two versions never share an isolate. */
  version: string;
  /** The bundle: a script that leaves the module's exports on `__isolayer_plugin__`. */
  code: string;
  /** Name the guest sees in stack traces, for instance `plugins/hello.ts`. */
  filename: string;
  /** Granted environment entries. */
  env: Record<string, string>;
  limits: Limits;
  /** `call`: an isolate serves one call only. */
  isolation: 'plugin' | 'call';
}

/** The answer to a capability call; `error.message` is the text that the plugin's `catch` sees. */
export type CapabilityReply =
  | { ok: true; value: Json }
  | { ok: false; error: { message: string; code?: string; status?: number; details?: Json } };

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
  /** {@link InvocationContext}, preceded by the version and a newline. */
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

/** Why a version cannot be served. `report` is a log line with the stack of the thrown error, or empty. */
export type LoadFailure = { outcome: CallOutcome; report: string };

/**
 * A capability call. In a frame the parameter `value` follows the message after a newline, as JSON text. The driver
 * checks this text; everyone else passes it on unread. In the message itself, `value` is the same text.
 */
export interface RequestMessage {
  /** Counts up from 1 within its call. */
  id: number;
  method: string;
  params: Json;
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

/** How far the operating system confines a child; probed when a driver thread starts, shown in `/ready`. */
export interface Confinement {
  /** Node's permission model. */
  permission: boolean;
  /** The child ends when the service ends, however the service ends. */
  pdeathsig: boolean;
  no_new_privs: boolean;
  core_dumps_off: boolean;
  /** The child may hold only few files open. */
  few_files: boolean;
  /** When the machine runs out of memory, the kernel kills the child first. */
  oom_first: boolean;
  /** The child has users, processes and a network of its own. */
  namespaces: boolean;
  /** The child can open no file except those that it needs to run, whatever code runs in it. */
  files_hidden: boolean;
  /** The kernel refuses the child calls that no sandbox needs: io_uring, ptrace, bpf, mounts, user namespaces. */
  syscalls_filtered: boolean;
  /** For each of these that is false, the reason. */
  missing: { [R in Restriction]?: string };
}

/** What the operating system can add to Node's own restrictions. */
export type Restriction =
  | 'pdeathsig'
  | 'no_new_privs'
  | 'core_dumps_off'
  | 'few_files'
  | 'oom_first'
  | 'namespaces'
  | 'files_hidden'
  | 'syscalls_filtered';

/** One call for one child; a {@link ReportMessage} answers it. */
export interface CallTask {
  child: number;
  call: number;
  version: string;
  /** JSON text of an {@link InvocationContext}. */
  context: string;
  /** Wall limit of the call, in milliseconds. */
  timeout_ms: number;
}

/** What the host posts to a driver thread: the messages that one turn of the host's loop has for the thread. */
export type ToDriverMessages = readonly (HostMessage | RunMessage)[];

/** What a driver thread posts to the host. */
export type FromDriverMessages = readonly (DriverMessage | ReportMessage)[];

/** Most messages that are posted together. With fewer, waking the other side costs more; with more, it is idle. */
export const MESSAGES_AT_ONCE = 8;

/** Runs a call. */
export type RunMessage = { type: 'run' } & CallTask;

/** A {@link CallReport} without field names, as copying them is slow. Each {@link RunMessage} gets one. */
export type ReportMessage = readonly [
  call: number,
  /** The result's JSON text for a call that returned, else its outcome. */
  outcome: string | CallOutcome,
  /** Level and message of one line after the other. */
  logs: readonly string[],
  droppedLogs: number,
  cpuMs: number,
  calls: number,
  heapBytes: number,
  bytesIn: number,
  bytesOut: number,
  lost: boolean,
];

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

/** Why a child ends. */
export interface ChildDeath {
  cause: 'closed' | 'overdue' | 'memory' | 'protocol' | 'died' | 'start';
  detail: string;
  /** The call that was entered when the child died, 0 for none: the culprit. */
  culprit: number;
}

/**
 * How long evaluating a plugin's module may take, in milliseconds of wall time. A plugin whose calls may have longer
 * stretches, for a large library or a slow machine, gets the same time for its module.
 */
export function evaluationLimitMs({ slice_ms: sliceMs }: Pick<Limits, 'slice_ms'>): number {
  return Math.max(FIXED_LIMITS.evaluate_ms, sliceMs);
}
