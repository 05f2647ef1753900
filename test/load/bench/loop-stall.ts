import { request } from 'undici';
import type { RunningService } from '../../support/service.ts';

/** prom-client measures the event loop's delay with a timer of 10 ms and includes these 10 ms in the delay. */
const TIMER_MS = 10;

/** The longest delay of the service's event loop since its metrics were last read, in milliseconds. */
export async function longestStallMs({ url, apiKey }: RunningService): Promise<number> {
  const { body } = await request(`${url}/api/v1/debug/metrics/scrape`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await body.text())?.[1];
  if (seconds === undefined) throw new Error('the server does not tell how long its loop was busy');
  return Number(seconds) * 1000 - TIMER_MS;
}
