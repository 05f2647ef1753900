import { evaluationMs } from '../evaluation-time.ts';
import { ProtocolViolation } from '../frames.ts';
import { FIXED_LIMITS } from '../protocol.ts';

/** The number that stands for guest code outside calls: the evaluation of a module. */
export const NO_CALL = 0;

/**
 * Tracks when a child enters and leaves the guest. Reports a child that stays inside, or gives no sign, for too long.
 */
export class Pulse {
  #entered: { call: number; since: number } | null = null;
  #lastEntered = NO_CALL;
  #heardAt: number;

  /** @param now milliseconds of a monotonic clock, as everywhere here */
  constructor(now: number) {
    this.#heardAt = now;
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
  heard(now: number): void {
    this.#heardAt = now;
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
    const moduleMs = evaluationMs({ slice_ms: sliceMs });
    const longestSliceMs = sliceMs * FIXED_LIMITS.crowded_factor;
    if (this.#entered !== null) {
      const mayTake = this.#entered.call === NO_CALL ? moduleMs : longestSliceMs;
      const took = now - this.#entered.since;
      return took > mayTake + FIXED_LIMITS.overdue_ms
        ? `it has been inside the guest for ${Math.round(took)} ms; ${mayTake} ms are allowed`
        : null;
    }
    // A child may have nothing to send for minutes while its calls wait. Its time starts anew with its next work.
    if (!owesASign) this.#heardAt = now;
    // Between two entries an honest child makes at most one isolate.
    const mayBeSilent = moduleMs + longestSliceMs + FIXED_LIMITS.overdue_ms;
    const silence = now - this.#heardAt;
    return owesASign && silence > mayBeSilent ? `it has given no sign of life for ${Math.round(silence)} ms` : null;
  }
}
