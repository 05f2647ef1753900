import { performance } from 'node:perf_hooks';
import {
  type CallOutcome,
  type CallReport,
  type CallTask,
  type CallUsage,
  type ChildDeath,
  type EndCode,
  FIXED_LIMITS,
  type Limits,
  type LogEntry,
  TIMER_REQUEST,
  type Usage,
} from '../../contract.ts';
import { ProtocolViolation } from '../../frames.ts';
import type { ChildExit } from '../../protocol.ts';
import type { CpuShare } from './child-cpu-limit.ts';

/** One call from its task to its report. After the report the object stays until the child has let go of the call. */
export class RunningCall {
  readonly task: CallTask;
  readonly limits: Limits;
  /** Whether the child has begun the call. */
  begun = false;
  /** The processor time that the call may still take. */
  readonly share: CpuShare;
  readonly #meter: CallMeter;
  /** When its wall time is used up, on the clock of `performance.now()`. */
  readonly dueAt: number;
  readonly #report: (report: CallReport) => void;
  readonly #beganAt = performance.now();
  #settled = false;

  constructor(
    task: CallTask,
    limits: Limits,
    shared: BytesInFlight,
    share: CpuShare,
    report: (report: CallReport) => void,
  ) {
    this.task = task;
    this.limits = limits;
    this.share = share;
    this.#meter = new CallMeter(limits, shared, task.durable !== undefined);
    this.#meter.bytesIn = Buffer.byteLength(task.context);
    this.#report = report;
    this.dueAt = this.#beganAt + task.timeout_ms;
  }

  /** True when the report has been sent. Later events of the call do not count. */
  get settled(): boolean {
    return this.#settled;
  }

  request(id: number, bytes: number, method = ''): CapabilityCallAdmission {
    return this.#meter.request(id, bytes, method);
  }

  answered(id: number): boolean {
    return this.#meter.answered(id);
  }

  /** Counts the bytes of an answer that goes down to the child. */
  sent(bytes: number): void {
    this.#meter.bytesIn += bytes;
  }

  log(entry: LogEntry, bytes: number): void {
    this.#meter.log(entry, bytes);
  }

  /** The child sent a message for a call that is over for the service. */
  late(): void {
    this.#meter.late();
  }

  ran(ms: number): void {
    this.#meter.ran(ms);
  }

  /** The child reported the end of the call. */
  done(outcome: CallOutcome, usage: Usage, droppedLogs: number): void {
    this.#meter.droppedLogs += droppedLogs;
    const checked = this.#checked(outcome);
    const { calls, bytes_in, bytes_out } = this.#meter.usage;
    const cpu_ms = this.#meter.believedMs(usage.cpu_ms, performance.now() - this.#beganAt);
    this.#settle(checked, { ...usage, cpu_ms, calls, bytes_in, bytes_out }, false);
  }

  /** Ends the call without a report from the child. */
  end({ code, message, lost }: ChildDeathVerdict): void {
    this.#settle({ kind: 'ended', code, message }, this.#meter.usage, lost);
  }

  #checked(outcome: CallOutcome): CallOutcome {
    const { result_bytes } = this.limits;
    if (outcome.kind !== 'returned') return outcome;
    const bytes = Buffer.byteLength(outcome.json);
    this.#meter.bytesOut += bytes;
    if (bytes <= result_bytes) return outcome;
    return {
      kind: 'ended',
      code: 'RESULT_TOO_LARGE',
      message: `The result is larger than ${result_bytes} bytes (limits.result_bytes)`,
    };
  }

  #settle(outcome: CallOutcome, usage: CallUsage, lost: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#meter.close();
    this.#report({ outcome, logs: this.#meter.logs, dropped_logs: this.#meter.droppedLogs, usage, lost });
  }
}

/** The longest delay of a timer: Node fires longer ones at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * One timer for the deadlines of all calls of a child, at the earliest one. Most calls end long before their deadline, so
 * it seldom has to be set.
 */
export class Deadlines {
  readonly #onDue: (now: number) => Iterable<number>;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  /** @param onDue ends what is due at `now`, and returns the deadlines that are left */
  constructor(onDue: (now: number) => Iterable<number>) {
    this.#onDue = onDue;
  }

  /** There is a deadline at this moment of `performance.now()`. */
  add(at: number): void {
    if (at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(1, Math.ceil(at - performance.now())));
    this.#timer = setTimeout(() => {
      this.#wakesAt = Number.POSITIVE_INFINITY;
      for (const left of this.#onDue(performance.now())) this.add(left);
    }, delayMs);
  }

  /** Forgets all deadlines. */
  close(): void {
    clearTimeout(this.#timer);
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }
}

/** How many bytes the unanswered capability calls of one child may hold in the service's memory. */
const MAX_BYTES_IN_FLIGHT = 16 * 1_048_576;
/**
 * The factor, and the milliseconds on top, by which the host's clock may exceed the limit before the child counts as
 * a liar.
 */
const CLOCK_DOUBT = 3;
const CLOCK_SLACK_MS = 1000;
/** The shortest stretch that is counted. A child that entered and left before the host looked was still inside. */
const MIN_STRETCH_MS = 0.01;

const MAX_LOG_LINES = FIXED_LIMITS.log_lines + FIXED_LIMITS.uncaught_lines;
const MAX_LOG_BYTES = FIXED_LIMITS.log_bytes + FIXED_LIMITS.uncaught_bytes;

/** The bytes of unanswered capability calls of one child, over all its calls. */
export class BytesInFlight {
  bytes = 0;
}

/** The decision about a capability call. */
export type CapabilityCallAdmission = 'admitted' | 'call-limit' | 'too-many-bytes';

/**
 * Counts what one call consumes, by what the host itself sees. The child counts as well and acts first. The host's
 * count makes sure that a child that lies gains nothing.
 */
export class CallMeter {
  readonly logs: LogEntry[] = [];
  droppedLogs = 0;
  /** Bytes of JSON text that went into the child, and that came out of it. */
  bytesIn = 0;
  bytesOut = 0;
  readonly #limits: Limits;
  readonly #shared: BytesInFlight;
  readonly #pending = new Map<number, number>();
  readonly #isDurable: boolean;
  /** Unanswered timers of a durable call, which are among the unanswered calls. */
  readonly #waits = new Set<number>();
  #timers = 0;
  #lastRequest = 0;
  #requests = 0;
  #logBytes = 0;
  #cpuMs = 0;
  #late = 0;

  constructor(limits: Limits, shared: BytesInFlight, isDurable = false) {
    this.#limits = limits;
    this.#shared = shared;
    this.#isDurable = isDurable;
  }

  get usage(): CallUsage {
    const { bytesIn, bytesOut } = this;
    return { cpu_ms: this.#cpuMs, calls: this.#requests, heap_bytes: 0, bytes_in: bytesIn, bytes_out: bytesOut };
  }

  /**
   * Counts a capability call of `bytes` bytes. The timers of a durable call have a limit of their own.
   * @throws ProtocolViolation when our own child would have refused it
   */
  request(id: number, bytes: number, method = ''): CapabilityCallAdmission {
    if (id <= this.#lastRequest) throw new ProtocolViolation('the ids of capability calls must count up');
    this.#lastRequest = id;
    if (this.#isDurable && method === TIMER_REQUEST) {
      this.#timers += 1;
      if (this.#timers > FIXED_LIMITS.durable_timers) throw new ProtocolViolation('too many timers');
      this.#waits.add(id);
    } else {
      const asked = this.#pending.size - this.#waits.size;
      if (asked >= FIXED_LIMITS.pending_requests) throw new ProtocolViolation('too many unanswered calls');
      if (this.#requests >= this.#limits.calls) return 'call-limit';
      this.#requests += 1;
    }
    this.bytesOut += bytes;
    const admitted = this.#shared.bytes + bytes <= MAX_BYTES_IN_FLIGHT;
    this.#pending.set(id, admitted ? bytes : 0);
    if (!admitted) return 'too-many-bytes';
    this.#shared.bytes += bytes;
    return 'admitted';
  }

  /** A capability call is answered; false when it was not waiting. */
  answered(id: number): boolean {
    const bytes = this.#pending.get(id);
    if (bytes === undefined) return false;
    this.#pending.delete(id);
    this.#waits.delete(id);
    this.#shared.bytes -= bytes;
    return true;
  }

  /**
   * Keeps a log line within the caps.
   * @throws ProtocolViolation when our own child would have dropped it
   */
  log(entry: LogEntry, bytes: number): void {
    this.#logBytes += bytes;
    if (this.logs.length >= MAX_LOG_LINES || this.#logBytes > MAX_LOG_BYTES) {
      throw new ProtocolViolation('more log lines than a call may have');
    }
    this.logs.push(entry);
  }

  /**
   * Adds a stretch of guest code, measured by the host's clock.
   * @throws ProtocolViolation when the sum is far beyond what our own child would have allowed
   */
  ran(ms: number): void {
    this.#cpuMs += Math.max(ms, MIN_STRETCH_MS);
    if (this.#cpuMs > this.#limits.cpu_ms * CLOCK_DOUBT + CLOCK_SLACK_MS) {
      throw new ProtocolViolation('the call ran for much longer than it may');
    }
  }

  /**
   * Returns the child's own time, limited to what the host believes: at least a third of the host's count, and at
   * most the time that has passed.
   * @param ms the child's own sum
   * @param wallMs since the call began
   */
  believedMs(ms: number, wallMs: number): number {
    return Math.min(Math.max(ms, this.#cpuMs / CLOCK_DOUBT), wallMs);
  }

  /**
   * The call is over for the service, but its guest goes on sending.
   * @throws ProtocolViolation when it sends more than a call may send
   */
  late(): void {
    this.#late += 1;
    const timers = this.#isDurable ? FIXED_LIMITS.durable_timers : 0;
    if (this.#late > this.#limits.calls + MAX_LOG_LINES + timers) {
      throw new ProtocolViolation('a call that is over does not stop speaking');
    }
  }

  /** Forgets the call's unanswered capability calls. Safe to call twice. */
  close(): void {
    for (const id of [...this.#pending.keys()]) this.answered(id);
  }
}

/** How a call ends when its child ended. */
export interface ChildDeathVerdict {
  code: EndCode;
  message: string;
  /** Whether the call may be run again: its child died through no fault of the call. */
  lost: boolean;
}

/**
 * Decides how a call of the child ends.
 * @param culprit whether this call was inside the guest
 */
export function judgeCallOnChildDeath(
  cause: ChildDeath['cause'],
  culprit: boolean,
  limits: Limits,
  memory: boolean,
): ChildDeathVerdict {
  if (!culprit || cause === 'closed' || cause === 'start') {
    return { code: 'SANDBOX_LOST', message: "The plugin's sandbox process ended under the call", lost: true };
  }
  if (cause === 'overdue') {
    return {
      code: 'CPU_LIMIT',
      message: `The plugin ran for more than ${limits.slice_ms} ms without a pause (limits.slice_ms)`,
      lost: false,
    };
  }
  if (cause === 'memory') {
    return {
      code: 'MEMORY_LIMIT',
      message: `The plugin's process used more than ${limits.process_mb} MiB of memory (limits.process_mb)`,
      lost: false,
    };
  }
  if (memory) {
    return {
      code: 'MEMORY_LIMIT',
      message: `The plugin used more than ${limits.memory_mb} MiB of memory (limits.memory_mb)`,
      lost: false,
    };
  }
  return { code: 'SANDBOX_LOST', message: 'The call ended its sandbox process', lost: false };
}

/** What V8 and isolated-vm write before they abort because memory is short. */
const MEMORY_TEXTS = /out of memory|Heap statistics|invalid size error|allocation failed/i;
/** V8 ends itself by a trap when it cannot go on, and by an abort when it is out of memory. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Whether a child that died by itself ran out of memory. */
export function diedOfMemory(gone: ChildExit): boolean {
  return MEMORY_SIGNALS.includes(gone.signal) || MEMORY_TEXTS.test(gone.stderr);
}

/** Whether the call that was inside the guest when a child died can be the cause. */
export function diedInsideGuest(gone: ChildExit): boolean {
  // A guest makes the kernel send SIGKILL only by its use of memory. Then the machine was short of memory; the plugin
  // was not over its limit.
  return gone.signal !== 'SIGKILL';
}
