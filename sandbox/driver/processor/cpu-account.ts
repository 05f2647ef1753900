import { evaluationMs } from '../../evaluation-time.ts';
import { ProtocolViolation } from '../../frames.ts';
import type { Limits } from '../../protocol.ts';

/** By how much a process may take more than the guest's stretches: its helper threads collect garbage and compile. */
const DOUBT = 3;
const SLACK_MS = 1000;
/** What a process may take on no call's behalf at once, and how much of each second comes back to it. */
const SPARE_MS = 2000;
const SPARE_SHARE = 0.1;
/** What a child may say of its isolates for each version that it is given and for each call. */
const ISOLATES_PER_LOAD = 64;
const ISOLATES_PER_CALL = 4;

/** One call's claim on the processor. */
export interface Share {
  leftMs: number;
}

/**
 * What a child may take of the processor, by what the operating system says of its process: whatever it claims of its
 * stretches, or leaves out, it has to go when it took several times what its calls together may.
 */
export class CpuAccount {
  #mayMake = ISOLATES_PER_LOAD;
  #spareMs = SPARE_MS;
  #loading: Share | undefined;
  /** What calls that ended since the last look had left. */
  #endedMs = 0;
  #takenMs = 0;
  #at: number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: number) {
    this.#at = now;
  }

  /** A version is to be evaluated. */
  load(limits: Limits): void {
    this.#mayMake += ISOLATES_PER_LOAD;
    this.#loading = { leftMs: DOUBT * evaluationMs(limits) };
  }

  /** Nothing is to be evaluated any more but for calls. */
  loaded(): void {
    this.#loading = undefined;
  }

  /** A call begins, and may need an isolate of its own. */
  begin(limits: Limits): Share {
    this.#mayMake += ISOLATES_PER_CALL;
    return { leftMs: DOUBT * limits.cpu_ms + evaluationMs(limits) + SLACK_MS };
  }

  /** A call is over: what it took since the last look is still its own. */
  ended({ leftMs }: Share): void {
    this.#endedMs += leftMs;
  }

  /**
   * The child says that it made an isolate, or how many it has.
   * @throws ProtocolViolation when our own child would not have said so as often
   */
  made(): void {
    this.#mayMake -= 1;
    if (this.#mayMake < 0) throw new ProtocolViolation('more isolates than there were calls for');
  }

  /**
   * Divides what the process took since the last time among the calls that ended meanwhile and those that are there.
   * @param takenMs processor time of the process so far, all its threads together
   * @returns why the child has to go, or null
   */
  overdrawn(now: number, takenMs: number, ofCalls: readonly Share[]): string | null {
    let left = Math.max(0, takenMs - this.#takenMs - this.#endedMs);
    this.#endedMs = 0;
    this.#spareMs = Math.min(SPARE_MS, this.#spareMs + (now - this.#at) * SPARE_SHARE);
    this.#at = now;
    this.#takenMs = Math.max(takenMs, this.#takenMs);
    const shares = this.#loading === undefined ? [...ofCalls] : [...ofCalls, this.#loading];
    // Those with the least first: what one cannot pay falls to those that can.
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
