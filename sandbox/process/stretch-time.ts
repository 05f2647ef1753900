const { threadCpuUsage } = process;

/** How far the system's own count may lag behind: a tick of Linux at its slowest. */
export const TICK_MS = 10;

/** Processor time of this thread so far, in milliseconds. */
export function threadMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Processor time of a stretch in milliseconds, never too low. A short stretch is measured by wall time alone. On a busy
 * machine, wall time also counts the time of other processes, so a longer stretch is limited by the thread's own time.
 * @param wallMs wall time of the stretch
 * @param beganMs {@link threadMs} before the stretch
 */
export function processorMs(wallMs: number, beganMs: number): number {
  return wallMs <= TICK_MS ? wallMs : Math.min(wallMs, threadMs() - beganMs + TICK_MS);
}
