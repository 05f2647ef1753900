import { request } from 'undici';
import type { RunningService } from '../test/support/service.ts';

/** prom-client's histogram of the loop's delay counts its own timer of 10 ms. */
const TIMER_MS = 10;

/** The longest delay of the loop since it was asked for last. */
export async function longestStallMs({ url, apiKey }: RunningService): Promise<number> {
  const { body } = await request(`${url}/api/v1/debug/metrics/scrape`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await body.text())?.[1];
  if (seconds === undefined) throw new Error('the server does not tell how long its loop was busy');
  return Number(seconds) * 1000 - TIMER_MS;
}
