import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, ApiError } from '../../client/client.ts';

const FINAL = new Set(['confirmed', 'failed', 'canceled', 'expired']);
/** How often in a row a server that does not answer is asked again. */
const TRIES = 10;

/**
 * Resolves when a transaction has ended, and tells of each status on the way.
 * @throws ApiError, or what the last of several tries in a row ended with
 */
export async function untilEnded(
  client: ApiClient,
  path: { id: string; transactionId: string },
  tell: (line: string) => void,
  pauseMs: number,
): Promise<void> {
  let told = '';
  for (let tries = 0; ; tries += 1) {
    try {
      const { data } = await client.call('getTransaction', { path });
      tries = 0;
      if (data.status !== told) tell(`${data.id} is ${data.status}`);
      told = data.status;
      if (FINAL.has(told)) return;
    } catch (error) {
      if ((error instanceof ApiError && !error.retryable) || tries >= TRIES) throw error;
    }
    await delay(pauseMs);
  }
}
