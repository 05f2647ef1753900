import { ApiError } from './client.ts';

const PAUSE_MS = 1_000;
/** How often in a row one request is refused for how many there were before it. */
const TRIES = 30;

/**
 * Asks again after a second while the key has asked too often, for what takes a request of each relayer.
 * @throws what the request ends with otherwise, or at the last try
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
