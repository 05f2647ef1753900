/** What a call may take in the child: how its time is measured, and how it ends. The host has limits of its own. */
import { performance } from 'node:perf_hooks';
import { type CallOutcome, FIXED_LIMITS, type Limits } from '../contract.ts';

/** The end of a call whose guest did not pause in time: V8 ends the loop. */
export function sliceLimit({ slice_ms }: Limits): CallOutcome & { kind: 'ended' } {
  const message = `The plugin ran for ${slice_ms} ms without a pause (limits.slice_ms)`;
  return { kind: 'ended', code: 'CPU_LIMIT', message };
}

/** The end of a call whose stretches took too much together. */
export function cpuLimit({ cpu_ms }: Limits): CallOutcome {
  const message = `The plugin used more than ${cpu_ms} ms of processor time (limits.cpu_ms)`;
  return { kind: 'ended', code: 'CPU_LIMIT', message };
}

/** The end of a call or of an evaluation that ran into the isolate's heap limit. */
export function memoryLimit({ memory_mb }: Limits): CallOutcome {
  return {
    kind: 'ended',
    code: 'MEMORY_LIMIT',
    message: `The plugin used more than ${memory_mb} MiB of memory (limits.memory_mb)`,
  };
}

/** How much of the past counts, in milliseconds of wall time in stretches. */
const REMEMBERED_MS = 200;
/** How long a measurement holds, in milliseconds. */
const HOLDS_MS = 10_000;

/**
 * How crowded the processor is. isolated-vm limits a stretch by wall time only. On a crowded machine most of that time
 * belongs to other processes, so an honest stretch gets as much more of it. The measure is wall time against this
 * thread's own time, over the start of the process and its latest stretches. It is a guess, so the child alone goes by
 * it: the host allows every stretch the most.
 */
export class CpuCrowding {
  #wallMs: number;
  #threadMs: number;
  #measuredAt: number;
  readonly #now: () => number;

  /**
   * @param wallMs wall time of the process so far
   * @param ownMs {@link threadCpuMs} so far
   * @param now milliseconds of a monotonic clock
   */
  constructor(wallMs = performance.now(), ownMs = threadCpuMs(), now = () => performance.now()) {
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
   * @param beganMs {@link threadCpuMs} before the stretch
   */
  took(wallMs: number, beganMs: number): void {
    if (wallMs <= TICK_MS) return;
    this.#measuredAt = this.#now();
    this.#wallMs += wallMs;
    this.#threadMs += threadCpuMs() - beganMs;
    if (this.#wallMs <= REMEMBERED_MS) return;
    this.#threadMs *= REMEMBERED_MS / this.#wallMs;
    this.#wallMs = REMEMBERED_MS;
  }
}

const { threadCpuUsage } = process;

/** How far the system's own count may lag behind: a tick of Linux at its slowest. */
const TICK_MS = 10;

/** Processor time of this thread so far, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

/** For how long {@link recentThreadCpuMs} repeats a count, in milliseconds. Much less than {@link TICK_MS}. */
const RECENT_MS = 1;
let recentAt = Number.NEGATIVE_INFINITY;
let recentMs = 0;

/**
 * The same, as it was at most {@link RECENT_MS} before `now`: too low rather than too high. The system's answer takes as
 * long as a fiftieth of a short call, and it does not matter to a short stretch.
 */
export function recentThreadCpuMs(now: number): number {
  if (now - recentAt > RECENT_MS) {
    recentMs = threadCpuMs();
    recentAt = now;
  }
  return recentMs;
}

/**
 * Processor time of a stretch in milliseconds, never too low. A short stretch is measured by wall time alone. On a busy
 * machine, wall time also counts the time of other processes, so a longer stretch is limited by the thread's own time.
 * @param wallMs wall time of the stretch
 * @param beganMs {@link threadCpuMs} before the stretch
 */
export function sliceCpuMs(wallMs: number, beganMs: number): number {
  return wallMs <= TICK_MS ? wallMs : Math.min(wallMs, threadCpuMs() - beganMs + TICK_MS);
}

/** A plugin counts as quick while its stretches take less than this, in milliseconds. */
const QUICK_MS = 0.5;
/** The factor by which the remembered time of a slow stretch shrinks with each later stretch. */
const MEMORY = 0.9;

/** How quick a plugin's stretches of guest code have been lately. */
export class SlicePace {
  #ms = Number.POSITIVE_INFINITY;

  get quick(): boolean {
    return this.#ms < QUICK_MS;
  }

  took(ms: number): void {
    this.#ms = Math.max(ms, Math.min(this.#ms, MAX_MS) * MEMORY);
  }
}

/** The longest time that is remembered, in milliseconds: so some dozens of quick stretches make up for one slow one. */
const MAX_MS = 20;
