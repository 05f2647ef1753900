import { performance } from 'node:perf_hooks';
import type { CallReport, CallTask, CallUsage, Limits, LogEntry, Outcome, Usage } from '../protocol.ts';
import type { Verdict } from './ending.ts';
import { type Admission, type BytesInFlight, Meter } from './meter.ts';
import type { Share } from './processor/cpu-account.ts';

/** One call from its task to its report. After the report the object stays until the child has let go of the call. */
export class RunningCall {
  readonly task: CallTask;
  readonly limits: Limits;
  /** Whether the child has begun the call. */
  begun = false;
  /** The processor time that the call may still take. */
  readonly share: Share;
  readonly #meter: Meter;
  readonly #report: (report: CallReport) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #beganAt = performance.now();
  #settled = false;

  /** @param onTimeout called when the call's wall time is used up */
  constructor(
    task: CallTask,
    limits: Limits,
    shared: BytesInFlight,
    share: Share,
    report: (report: CallReport) => void,
    onTimeout: () => void,
  ) {
    this.task = task;
    this.limits = limits;
    this.share = share;
    this.#meter = new Meter(limits, shared);
    this.#meter.bytesIn = Buffer.byteLength(task.context);
    this.#report = report;
    this.#deadline = setTimeout(onTimeout, task.timeout_ms);
  }

  /** True when the report has been sent. Later events of the call do not count. */
  get settled(): boolean {
    return this.#settled;
  }

  request(id: number, bytes: number): Admission {
    return this.#meter.request(id, bytes);
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
  done(outcome: Outcome, usage: Usage, droppedLogs: number): void {
    this.#meter.droppedLogs += droppedLogs;
    const checked = this.#checked(outcome);
    const { calls, bytes_in, bytes_out } = this.#meter.usage;
    const cpu_ms = this.#meter.believedMs(usage.cpu_ms, performance.now() - this.#beganAt);
    this.#settle(checked, { ...usage, cpu_ms, calls, bytes_in, bytes_out }, false);
  }

  /** Ends the call without a report from the child. */
  end({ code, message, lost }: Verdict): void {
    this.#settle({ kind: 'ended', code, message }, this.#meter.usage, lost);
  }

  #checked(outcome: Outcome): Outcome {
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

  #settle(outcome: Outcome, usage: CallUsage, lost: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#deadline);
    this.#meter.close();
    this.#report({ outcome, logs: this.#meter.logs, dropped_logs: this.#meter.droppedLogs, usage, lost });
  }
}
