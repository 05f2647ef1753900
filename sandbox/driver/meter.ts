import { ProtocolViolation } from '../frames.ts';
import { type CallUsage, FIXED_LIMITS, type Limits, type LogEntry } from '../protocol.ts';

/** How many bytes the unanswered capability calls of one child may hold in the service's memory. */
const MAX_BYTES_IN_FLIGHT = 16 * 1_048_576;
/**
 * The factor, and the milliseconds on top, by which the driver's clock may exceed the limit before the child counts as
 * a liar.
 */
const CLOCK_DOUBT = 3;
const CLOCK_SLACK_MS = 1000;
/** The shortest stretch that is counted. A child that entered and left before the driver looked was still inside. */
const MIN_STRETCH_MS = 0.01;

const MAX_LOG_LINES = FIXED_LIMITS.log_lines + FIXED_LIMITS.uncaught_lines;
const MAX_LOG_BYTES = FIXED_LIMITS.log_bytes + FIXED_LIMITS.uncaught_bytes;

/** The bytes of unanswered capability calls of one child, over all its calls. */
export class BytesInFlight {
  bytes = 0;
}

/** The decision about a capability call. */
export type Admission = 'admitted' | 'call-limit' | 'too-many-bytes';

/**
 * Counts what one call consumes, by what the driver itself sees. The child counts as well and acts first. The driver's
 * count makes sure that a child that lies gains nothing.
 */
export class Meter {
  readonly logs: LogEntry[] = [];
  droppedLogs = 0;
  /** Bytes of JSON text that went into the child, and that came out of it. */
  bytesIn = 0;
  bytesOut = 0;
  readonly #limits: Limits;
  readonly #shared: BytesInFlight;
  readonly #pending = new Map<number, number>();
  #lastRequest = 0;
  #requests = 0;
  #logBytes = 0;
  #cpuMs = 0;
  #late = 0;

  constructor(limits: Limits, shared: BytesInFlight) {
    this.#limits = limits;
    this.#shared = shared;
  }

  get usage(): CallUsage {
    const { bytesIn, bytesOut } = this;
    return { cpu_ms: this.#cpuMs, calls: this.#requests, heap_bytes: 0, bytes_in: bytesIn, bytes_out: bytesOut };
  }

  /**
   * Counts a capability call of `bytes` bytes.
   * @throws ProtocolViolation when our own child would have refused it
   */
  request(id: number, bytes: number): Admission {
    if (id <= this.#lastRequest) throw new ProtocolViolation('the ids of capability calls must count up');
    if (this.#pending.size >= FIXED_LIMITS.pending_requests) throw new ProtocolViolation('too many unanswered calls');
    this.#lastRequest = id;
    if (this.#requests >= this.#limits.calls) return 'call-limit';
    this.#requests += 1;
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
   * Adds a stretch of guest code, measured by the driver's clock.
   * @throws ProtocolViolation when the sum is far beyond what our own child would have allowed
   */
  ran(ms: number): void {
    this.#cpuMs += Math.max(ms, MIN_STRETCH_MS);
    if (this.#cpuMs > this.#limits.cpu_ms * CLOCK_DOUBT + CLOCK_SLACK_MS) {
      throw new ProtocolViolation('the call ran for much longer than it may');
    }
  }

  /**
   * Returns the child's own time, limited to what the driver believes: at least a third of the driver's count, and at
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
    if (this.#late > this.#limits.calls + MAX_LOG_LINES) {
      throw new ProtocolViolation('a call that is over does not stop speaking');
    }
  }

  /** Forgets the call's unanswered capability calls. Safe to call twice. */
  close(): void {
    for (const id of [...this.#pending.keys()]) this.answered(id);
  }
}
