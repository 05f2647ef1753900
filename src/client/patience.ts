import { ApiError } from './client.ts';

const PAUSE_MS = 1_000;
/** The most tries of one request that is refused with 429. */
const TRIES = 30;

/**
 * Repeats a request after a second while it is refused with 429. It is for callers that send a request for each
 * relayer.
 * @throws any other error of the request, or the 429 of the last try
 */
export async function patiently<T>(ask: () => Promise<T>, pauseMs = PAUSE_MS): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429 || tries >= TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
