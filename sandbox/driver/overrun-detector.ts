import { performance } from 'node:perf_hooks';
import type { Death, Limits } from '../protocol.ts';
import { Growth } from './growth.ts';
import { CpuAccount, type Share } from './processor/cpu-account.ts';
import { type ChildPids, Niceness } from './processor/niceness.ts';
import { type ChildNiceness, Priority } from './processor/priority.ts';
import { ProcessorTime } from './processor/processor-time.ts';
import { NO_CALL, Pulse } from './pulse.ts';

/** The state of a child at one look. */
export interface Look {
  /** Milliseconds of a monotonic clock. */
  now: number;
  rssBytes: number;
  ready: boolean;
  limits: Pick<Limits, 'process_mb' | 'slice_ms'>;
  /** Whether an honest child would have sent something by now. */
  owesASign: boolean;
}

const MIB = 1_048_576;
/** Longest time from the start of the process to READY. Generous, for a machine that starts many at once. */
const START_MS = 10_000;
/** A call that took less than this share of the process's memory is not blamed for filling it. */
const MIN_GUILT = 1 / 8;

/**
 * Decides when a child has to go, and which call is to blame. It judges by the clock and by what the operating system
 * reports. It also lowers the priority of a busy child.
 */
export class OverrunDetector {
  readonly pulse: Pulse;
  readonly account: CpuAccount;
  readonly #growth = new Growth();
  readonly #processor: ProcessorTime;
  readonly #priority: Priority;
  readonly #startedAt = performance.now();
  #lookedAt = 0;

  /**
   * @param child the child to watch, which was just started
   * @param niceness sets the nice values of the child
   */
  constructor(child: ChildPids, niceness: ChildNiceness = new Niceness(child)) {
    this.pulse = new Pulse(this.#startedAt);
    this.account = new CpuAccount(this.#startedAt);
    this.#processor = new ProcessorTime(() => child.memoryPid);
    this.#priority = new Priority(niceness, this.#startedAt);
  }

  /**
   * The call that is inside the guest. When no call is inside, the call that was inside last: the child is looked at
   * only now and then.
   */
  get suspect(): number {
    return this.pulse.entered ?? this.pulse.lastEntered;
  }

  /**
   * The child reports that this call, or no call, left the guest.
   * @returns how long the stretch took
   * @throws ProtocolViolation
   */
  left(call: number, now: number): number {
    const ms = this.pulse.leave(call, now);
    if (call === NO_CALL) {
      this.account.made();
      return ms;
    }
    this.#priority.prove();
    this.#growth.ran(call, now - Math.max(now - ms, this.#lookedAt));
    return ms;
  }

  /** The child has let go of a call. */
  ended(call: number, share: Share): void {
    this.account.ended(share);
    this.#growth.ended(call);
  }

  /** Returns why the child has to go, or null. */
  look({ now, rssBytes, ready, limits, owesASign }: Look): Death | null {
    const insideSince = this.pulse.entered === null ? null : this.pulse.enteredSince(0);
    const evaluating = this.pulse.entered === NO_CALL;
    this.#priority.look({ now, starting: !ready, insideSince, evaluating, takenMs: this.#processor.read() });
    if (!ready && now - this.#startedAt > START_MS) {
      return { cause: 'start', detail: `it was not ready within ${START_MS} ms`, culprit: NO_CALL };
    }
    const { entered } = this.pulse;
    if (entered !== null) this.#growth.ran(entered, now - this.pulse.enteredSince(this.#lookedAt));
    this.#lookedAt = now;
    this.#growth.measured(rssBytes);
    const mostBytes = limits.process_mb * MIB;
    if (rssBytes > mostBytes) {
      const culprit = this.#growth.most(mostBytes * MIN_GUILT);
      return { cause: 'memory', detail: `it takes ${Math.round(rssBytes / MIB)} MiB`, culprit };
    }
    const overdue = this.pulse.overdue(now, limits.slice_ms, owesASign);
    return overdue === null ? null : { cause: 'overdue', detail: overdue, culprit: entered ?? NO_CALL };
  }

  /** Returns why the child has to go for the processor time of its process, or null. Call it now and then. */
  overspent(now: number, shares: readonly Share[]): Death | null {
    const detail = this.account.overdrawn(now, this.#processor.read(), shares);
    return detail === null ? null : { cause: 'overdue', detail, culprit: NO_CALL };
  }

  /** Safe to call twice. */
  close(): void {
    this.#processor.close();
    this.#priority.close();
  }
}
