import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for the given milliseconds.
 * @returns false if the signal ended the wait early
 */
export async function pass(ms: number, signal: AbortSignal): Promise<boolean> {
  return await sleep(ms, true, { signal }).catch(() => false);
}
