/**
 * What the sandbox and its host have in common: types, limits and codes. `host/sandbox.ts` has what a host calls; the
 * service knows these two files and no other. Types, constants and two rules, so that the host, the driver threads, the
 * child process and the guest can all share this file. Every receiver parses what it gets: a type here promises a shape
 * and proves nothing.
 */

export { RUN_PLUGIN } from './language-names.ts';

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
  /** Largest frame the host accepts beyond `result_bytes`, in bytes. */
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
  /** Timers that one run of a durable call may arm: each is an answer of the host. */
  durable_timers: 10_000,
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

/** How a call ended whose handler has not returned. */
export type CallFailure = Exclude<CallOutcome, { kind: 'returned' }>;

/** What a call consumed; measured by the child and, where it matters, again by the host. */
export interface Usage {
  /** Sum of the guest's stretches, in milliseconds. */
  cpu_ms: number;
  /** Capability calls made. */
  calls: number;
  /** The isolate's heap at the end, in bytes. After a quick call it may be an earlier measurement. */
  heap_bytes: number;
}

/** The same, plus the bytes of JSON text into and out of the child. The host counts these. */
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
  /** Present when a trigger of the service made the call. */
  trigger?: CallingTrigger;
}

/** The trigger that made a call, as the handler sees it. */
export interface CallingTrigger {
  name: string;
  /** Of which moment, or when: RFC 3339. */
  at: string;
  /** Absent for a schedule. */
  event?: Json;
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
export type CapabilityReply = (
  | { ok: true; value: Json }
  | { ok: false; error: { message: string; code?: string; status?: number; details?: Json } }
) & {
  /** When the host gave the answer, in milliseconds since the Unix epoch: the clock of a durable call moves to it. */
  at?: number;
};

/**
 * The capability call that a timer of a durable call is, with the parameter `ms`. The host answers it when the timer is
 * due. The guest ignores the answer if it has cleared the timer meanwhile.
 */
export const TIMER_REQUEST = 'timer';

/** Why a version cannot be served. `report` is a log line with the stack of the thrown error, or empty. */
export type LoadFailure = { outcome: CallOutcome; report: string };

/**
 * A capability call. In a frame the parameter `value` follows the message after a newline, as JSON text. The host
 * checks this text; everyone else passes it on unread. In the message itself, `value` is the same text.
 */
export interface RequestMessage {
  /** Counts up from 1 within its call. */
  id: number;
  method: string;
  params: Json;
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
  /** Makes the guest's course depend on nothing but the version, the context, this and the order of its answers. */
  durable?: DurableStart;
}

/** What a durable call begins with, in each of its runs. */
export interface DurableStart {
  /** 64 hex digits. All chance of the call comes from it. */
  seed: string;
  /** Where the call's clock begins, in milliseconds since the Unix epoch. */
  now: number;
}

/** Why a child ends. */
export interface ChildDeath {
  cause: 'closed' | 'overdue' | 'memory' | 'protocol' | 'died' | 'start';
  detail: string;
  /** The call that was entered when the child died, 0 for none: the culprit. */
  culprit: number;
}

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

/**
 * Modules of Node.js that guests have, by their names without `node:`. The bundler redirects imports of them, and the
 * guest makes them. Packages may import other Node.js modules, which throw when they are used.
 */
export const GUEST_MODULES = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'console',
  'crypto',
  'events',
  'os',
  'path',
  'path/posix',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'sys',
  'timers',
  'timers/promises',
  'tty',
  'url',
  'util',
  'util/types',
] as const;

export type GuestModule = (typeof GUEST_MODULES)[number];

/**
 * Packages that modules of the guest stand for, each with its file in `guest/modules`. Plugins need not install them. An
 * asterisk stands for whatever follows, as in the `paths` of a tsconfig.json.
 */
export const STAND_INS: Readonly<Record<string, string>> = {
  isolayer: 'relayer-sdk.ts',
  '@openzeppelin/relayer-sdk': 'relayer-sdk.ts',
  '@openzeppelin/relayer-sdk/*': 'relayer-sdk.ts',
  '@gelatonetwork/web3-functions-sdk': 'gelato-sdk.ts',
  '@openzeppelin/defender-sdk': 'defender-sdk.ts',
  '@openzeppelin/defender-sdk-relay-signer-client': 'defender-sdk.ts',
  '@openzeppelin/defender-sdk-relay-signer-client/lib/ethers': 'defender-sdk.ts',
  '@openzeppelin/defender-sdk-key-value-store-client': 'defender-sdk.ts',
  '@openzeppelin/defender-relay-client': 'defender-sdk.ts',
  '@openzeppelin/defender-relay-client/lib/ethers': 'defender-sdk.ts',
  '@openzeppelin/defender-kvstore-client': 'defender-sdk.ts',
  'defender-sdk': 'defender-sdk.ts',
  'defender-sdk-relay-signer-client': 'defender-sdk.ts',
  'defender-sdk-relay-signer-client/lib/ethers': 'defender-sdk.ts',
  'defender-sdk-key-value-store-client': 'defender-sdk.ts',
  'defender-relay-client': 'defender-sdk.ts',
  'defender-relay-client/lib/ethers': 'defender-sdk.ts',
  'defender-kvstore-client': 'defender-sdk.ts',
};
