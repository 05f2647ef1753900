import { performance } from 'node:perf_hooks';
import { FIXED_LIMITS } from '../protocol.ts';
import { TICK_MS, threadMs } from './stretch-time.ts';

/** How much of the past counts, in milliseconds of wall time in stretches. */
const REMEMBERED_MS = 200;
/** How long a measurement holds, in milliseconds. */
const HOLDS_MS = 10_000;

/**
 * How crowded the processor is. isolated-vm limits a stretch by wall time only. On a crowded machine most of that time
 * belongs to other processes, so an honest stretch gets as much more of it. The measure is wall time against this
 * thread's own time, over the start of the process and its latest stretches. It is a guess, so the child alone goes by
 * it: the driver allows every stretch the most.
 */
export class Crowding {
  #wallMs: number;
  #threadMs: number;
  #measuredAt: number;
  readonly #now: () => number;

  /**
   * @param wallMs wall time of the process so far
   * @param ownMs {@link threadMs} so far
   * @param now milliseconds of a monotonic clock
   */
  constructor(wallMs = performance.now(), ownMs = threadMs(), now = () => performance.now()) {
    this.#now = now;
    this.#measuredAt = now();
    this.#wallMs = wallMs;
    this.#threadMs = ownMs;
  }

  /** How much longer than its processor time a stretch takes, from 1 to `FIXED_LIMITS.crowded_factor`. */
  get factor(): number {
    if (this.#now() - this.#measuredAt > HOLDS_MS) return 1;
    return Math.min(FIXED_LIMITS.crowded_factor, Math.max(1, this.#wallMs / (this.#threadMs + TICK_MS)));
  }

  /**
   * Counts a stretch. A short one tells nothing: others seldom come between.
   * @param wallMs wall time of the stretch
   * @param beganMs {@link threadMs} before the stretch
   */
  took(wallMs: number, beganMs: number): void {
    if (wallMs <= TICK_MS) return;
    this.#measuredAt = this.#now();
    this.#wallMs += wallMs;
    this.#threadMs += threadMs() - beganMs;
    if (this.#wallMs <= REMEMBERED_MS) return;
    this.#threadMs *= REMEMBERED_MS / this.#wallMs;
    this.#wallMs = REMEMBERED_MS;
  }
}
