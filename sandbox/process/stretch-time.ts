const { threadCpuUsage } = process;

/** By how much the system's own count may be behind: a tick of Linux at its slowest. */
const TICK_MS = 10;

/** What this thread has taken of the processor, in milliseconds. */
export function threadMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * What a stretch took of the processor, never less than it did, in milliseconds. On a full machine the clock on the wall
 * also counts what others took; it is good enough for a short one.
 * @param wallMs by the clock on the wall
 * @param beganMs {@link threadMs} before it
 */
export function processorMs(wallMs: number, beganMs: number): number {
  return wallMs <= TICK_MS ? wallMs : Math.min(wallMs, threadMs() - beganMs + TICK_MS);
}
