import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits.
 * @returns false when it was ended before the time was over
 */
export async function pass(ms: number, signal: AbortSignal): Promise<boolean> {
  return await sleep(ms, true, { signal }).catch(() => false);
}
