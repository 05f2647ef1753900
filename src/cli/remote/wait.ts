import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, ApiError } from '../../client/client.ts';

const FINAL = new Set(['confirmed', 'failed', 'canceled', 'expired']);
/** How often in a row a request without an answer is repeated. */
const TRIES = 10;

/**
 * Resolves when a transaction has ended. Reports each status until then.
 * @throws ApiError, or the error of the last try, when several tries in a row fail
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
