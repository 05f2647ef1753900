import type { Limits } from '../../contract.ts';
import { ProtocolViolation } from '../../frames.ts';
import { evaluationLimitMs } from '../../protocol.ts';

/**
 * The factor, and the milliseconds on top, by which a process may exceed the time of its guest's stretches: its helper
 * threads collect garbage and compile.
 */
const DOUBT = 3;
const SLACK_MS = 1000;
/**
 * Processor time that a process may take outside calls: at once, in milliseconds, and the share of each second by which
 * this allowance refills.
 */
const SPARE_MS = 2000;
const SPARE_SHARE = 0.1;
/** How many messages about isolates a child may send for each version that it loads, and for each call. */
const ISOLATES_PER_LOAD = 64;
const ISOLATES_PER_CALL = 4;

/** One call's claim on the processor. */
export interface CpuShare {
  leftMs: number;
}

/**
 * Limits the processor time of a child by the operating system's count for its process. The child's own claims about
 * its stretches do not matter. The child must end when it took several times what its calls together may take.
 */
export class ChildCpuLimit {
  #mayMake = ISOLATES_PER_LOAD;
  #spareMs = SPARE_MS;
  #loading: CpuShare | undefined;
  /** What the calls that ended since the last look had not used, in milliseconds. */
  #endedMs = 0;
  #takenMs = 0;
  #at: number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: number) {
    this.#at = now;
  }

  /** A version is about to be evaluated. */
  load(limits: Limits): void {
    this.#mayMake += ISOLATES_PER_LOAD;
    this.#loading = { leftMs: DOUBT * evaluationLimitMs(limits) };
  }

  /** All versions are evaluated. From now on modules are evaluated only to make isolates for calls. */
  loaded(): void {
    this.#loading = undefined;
  }

  /** A call begins. It may need an isolate of its own. */
  begin(limits: Limits): CpuShare {
    this.#mayMake += ISOLATES_PER_CALL;
    return { leftMs: DOUBT * limits.cpu_ms + evaluationLimitMs(limits) + SLACK_MS };
  }

  /** A call is over. Its unused share still pays for what the process took since the last look. */
  ended({ leftMs }: CpuShare): void {
    this.#endedMs += leftMs;
  }

  /**
   * The child reports that it made an isolate, or how many it has.
   * @throws ProtocolViolation when our own child would not report this so often
   */
  made(): void {
    this.#mayMake -= 1;
    if (this.#mayMake < 0) throw new ProtocolViolation('more isolates than there were calls for');
  }

  /**
   * Divides the processor time since the last look among the running calls and the calls that ended since then.
   * @param takenMs processor time of the process so far, all its threads together
   * @returns why the child has to go, or null
   */
  overdrawn(now: number, takenMs: number, ofCalls: readonly CpuShare[]): string | null {
    let left = Math.max(0, takenMs - this.#takenMs - this.#endedMs);
    this.#endedMs = 0;
    this.#spareMs = Math.min(SPARE_MS, this.#spareMs + (now - this.#at) * SPARE_SHARE);
    this.#at = now;
    this.#takenMs = Math.max(takenMs, this.#takenMs);
    const shares = this.#loading === undefined ? [...ofCalls] : [...ofCalls, this.#loading];
    // Starts with the smallest share: the other shares pay what it cannot.
    shares.sort((one, other) => one.leftMs - other.leftMs);
    for (const [index, share] of shares.entries()) {
      const paid = Math.min(left / (shares.length - index), share.leftMs);
      share.leftMs -= paid;
      left -= paid;
    }
    this.#spareMs -= left;
    if (this.#spareMs >= 0) return null;
    return `its process took ${Math.round(takenMs)} ms of the processor, far more than its calls may`;
  }
}
