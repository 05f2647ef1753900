import { performance } from 'node:perf_hooks';
import { CallTable } from '../../call-table.ts';
import { type ChildDeath, FIXED_LIMITS, type Limits } from '../../contract.ts';
import { ProtocolViolation } from '../../frames.ts';
import { evaluationLimitMs } from '../../protocol.ts';
import { ChildCpuLimit, type CpuShare } from './child-cpu-limit.ts';
import { type ChildNiceness, ChildPriority } from './priority.ts';

/** The state of a child at one look. */
export interface ChildSample {
  /** Milliseconds of a monotonic clock. */
  now: number;
  rssBytes: number;
  /** Processor time of its process so far, in milliseconds; 0 where it cannot be told. */
  takenMs: number;
  ready: boolean;
  limits: Pick<Limits, 'process_mb' | 'slice_ms'>;
  /** Whether the host has not yet read all that the child has sent. */
  hasUnread: boolean;
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
export class ChildLimits {
  readonly heartbeat: Heartbeat;
  readonly account: ChildCpuLimit;
  readonly #rssTrend = new RssTrend();
  readonly #priority: ChildPriority;
  readonly #startedAt = performance.now();
  #lookedAt = 0;

  /** @param niceness of the child to watch, which was just started */
  constructor(niceness: ChildNiceness) {
    this.heartbeat = new Heartbeat(this.#startedAt);
    this.account = new ChildCpuLimit(this.#startedAt);
    this.#priority = new ChildPriority(niceness, this.#startedAt);
  }

  /**
   * The call that is inside the guest. When no call is inside, the call that was inside last: the child is looked at
   * only now and then.
   */
  get suspect(): number {
    return this.heartbeat.entered ?? this.heartbeat.lastEntered;
  }

  /**
   * The child reports that this call, or no call, left the guest.
   * @returns how long the stretch took
   * @throws ProtocolViolation
   */
  left(call: number, now: number): number {
    const ms = this.heartbeat.leave(call, now);
    if (call === NO_CALL) {
      this.account.made();
      return ms;
    }
    this.#priority.prove();
    this.#rssTrend.ran(call, now - Math.max(now - ms, this.#lookedAt));
    return ms;
  }

  /** The child has let go of a call. */
  ended(call: number, share: CpuShare): void {
    this.account.ended(share);
    this.#rssTrend.ended(call);
  }

  /** Returns why the child has to go, or null. */
  look({ now, rssBytes, takenMs, ready, limits, hasUnread, owesASign }: ChildSample): ChildDeath | null {
    const insideSince = this.heartbeat.entered === null ? null : this.heartbeat.enteredSince(0);
    const evaluating = this.heartbeat.entered === NO_CALL;
    this.#priority.look({ now, starting: !ready, insideSince, evaluating, takenMs });
    if (!ready && now - this.#startedAt > START_MS) {
      return { cause: 'start', detail: `it was not ready within ${START_MS} ms`, culprit: NO_CALL };
    }
    const { entered } = this.heartbeat;
    if (entered !== null) this.#rssTrend.ran(entered, now - this.heartbeat.enteredSince(this.#lookedAt));
    this.#lookedAt = now;
    this.#rssTrend.measured(rssBytes);
    const mostBytes = limits.process_mb * MIB;
    if (rssBytes > mostBytes) {
      const culprit = this.#rssTrend.most(mostBytes * MIN_GUILT);
      return { cause: 'memory', detail: `it takes ${Math.round(rssBytes / MIB)} MiB`, culprit };
    }
    if (hasUnread) return null;
    const overdue = this.heartbeat.overdue(now, limits.slice_ms, owesASign);
    return overdue === null ? null : { cause: 'overdue', detail: overdue, culprit: entered ?? NO_CALL };
  }

  /** Returns why the child has to go for the processor time of its process, or null. Call it now and then. */
  overspent(now: number, takenMs: number, shares: readonly CpuShare[]): ChildDeath | null {
    const detail = this.account.overdrawn(now, takenMs, shares);
    return detail === null ? null : { cause: 'overdue', detail, culprit: NO_CALL };
  }
}

/** The number that stands for guest code outside calls: the evaluation of a module. */
export const NO_CALL = 0;

/**
 * Tracks when a child enters and leaves the guest. Reports a child that stays inside, or gives no sign, for too long.
 */
export class Heartbeat {
  #entered: { call: number; since: number } | null = null;
  #lastEntered = NO_CALL;
  #aliveAt: number;

  /** @param now milliseconds of a monotonic clock, as everywhere here */
  constructor(now: number) {
    this.#aliveAt = now;
  }

  /** The call that is inside the guest. {@link NO_CALL} while a module is evaluated, null when the child is outside. */
  get entered(): number | null {
    return this.#entered?.call ?? null;
  }

  /** The call that was inside the guest last. */
  get lastEntered(): number {
    return this.#lastEntered;
  }

  /** When the child entered the guest, on the same clock, or `earliest` if that is later. */
  enteredSince(earliest: number): number {
    return Math.max(this.#entered?.since ?? earliest, earliest);
  }

  /** The child gave a sign of life, or got work after it had none. */
  beat(now: number): void {
    this.#aliveAt = now;
  }

  /** @throws ProtocolViolation */
  enter(call: number, now: number): void {
    if (this.#entered !== null) throw new ProtocolViolation('ENTER within ENTER');
    this.#entered = { call, since: now };
    this.#lastEntered = call;
  }

  /**
   * @returns how long the stretch took
   * @throws ProtocolViolation
   */
  leave(call: number, now: number): number {
    const entered = this.#entered;
    if (entered?.call !== call) throw new ProtocolViolation('LEAVE without ENTER');
    this.#entered = null;
    return now - entered.since;
  }

  /**
   * Returns why the child has to go, or null.
   * @param owesASign whether an honest child would have sent something by now
   */
  overdue(now: number, sliceMs: number, owesASign: boolean): string | null {
    const moduleMs = evaluationLimitMs({ slice_ms: sliceMs });
    const longestSliceMs = sliceMs * FIXED_LIMITS.crowded_factor;
    if (this.#entered !== null) {
      const mayTake = this.#entered.call === NO_CALL ? moduleMs : longestSliceMs;
      const took = now - this.#entered.since;
      return took > mayTake + FIXED_LIMITS.overdue_ms
        ? `it has been inside the guest for ${Math.round(took)} ms; ${mayTake} ms are allowed`
        : null;
    }
    // A child may have nothing to send for minutes while its calls wait. Its time starts anew with its next work.
    if (!owesASign) this.#aliveAt = now;
    // Between two entries an honest child makes at most one isolate.
    const mayBeSilent = moduleMs + longestSliceMs + FIXED_LIMITS.overdue_ms;
    const silence = now - this.#aliveAt;
    return owesASign && silence > mayBeSilent ? `it has given no sign of life for ${Math.round(silence)} ms` : null;
  }
}

/**
 * Every stretch counts for at least this long, in milliseconds: the clock may see its begin and end at the same
 * instant.
 */
const MIN_MS = 0.01;

/**
 * Tracks during which call's stretches the child's memory grew. When the memory is too large, this names the call that
 * filled it.
 */
export class RssTrend {
  #rssBytes = 0;
  /** Time inside the guest since the last look, in milliseconds. */
  readonly #spent = new CallTable<number>();
  readonly #grown = new CallTable<number>();

  /** Adds a stretch of `ms` milliseconds that this call spent inside the guest. */
  ran(call: number, ms: number): void {
    this.#spent.set(call, (this.#spent.get(call) ?? 0) + Math.max(ms, MIN_MS));
  }

  /** Records the child's present memory, in bytes. Divides the growth among the calls that ran since the last look. */
  measured(rssBytes: number): void {
    const grownBytes = rssBytes - this.#rssBytes;
    this.#rssBytes = rssBytes;
    if (grownBytes > 0) {
      const allMs = this.#spent.values().reduce((sum, ms) => sum + ms, 0);
      for (const [call, ms] of this.#spent.entries()) {
        this.#grown.set(call, (this.#grown.get(call) ?? 0) + (grownBytes * ms) / allMs);
      }
    }
    if (this.#spent.size > 0) this.#spent.clear();
  }

  ended(call: number): void {
    this.#grown.delete(call);
    this.#spent.delete(call);
  }

  /**
   * Returns the running call during which the memory grew most, or {@link NO_CALL} when no call grew it by
   * `leastBytes`.
   */
  most(leastBytes: number): number {
    let most = NO_CALL;
    let bytes = leastBytes;
    for (const [call, grown] of this.#grown.entries()) {
      if (call === NO_CALL || grown < bytes) continue;
      most = call;
      bytes = grown;
    }
    return most;
  }
}
