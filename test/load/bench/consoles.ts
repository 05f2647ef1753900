/** Measures how fast the console appears, and how much open consoles slow other load. */
import { ALERT_METRICS } from '../../../console/alerts.ts';
import { ApiClient } from '../../../src/client/client.ts';
import { HAS_BROWSER, startBrowser } from '../../support/browser.ts';
import { type FirstView, firstView } from '../../support/first-view.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { inTurns, type Ratio, type Round, saturate, type Target, warmUp } from './load.ts';

/** One kind of load, measured alone and with consoles open. */
export interface WatchedLoad {
  name: string;
  alone: Round;
  watched: Round;
  /** The ratio of the rate with consoles to the rate without. */
  toAlone: Ratio;
}

export interface ConsoleFigures {
  /** Views of new visitors, loaded one after the other. Empty if no browser is installed. */
  views: FirstView[];
  loads: WatchedLoad[];
}

const VIEWS = 9;
const CONSOLES = 10;
/** How often the console's overview repeats its requests. */
const LOOK_EVERY_MS = 15_000;

export async function benchConsoles(run: { seconds: number; rounds: number }): Promise<ConsoleFigures> {
  const workspace = await createWorkspace({
    pluginFiles: { 'echo.ts': 'export async function handler({ params }) { return params; }' },
    plugins: [{ id: 'echo', path: 'echo.ts' }],
    config: { notifications: [{ id: 'hook', type: 'webhook', url: 'https://example.com/hook' }] },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000', LOG_LEVEL: 'info' },
  });
  const service = await startService(workspace.env);
  try {
    const views = HAS_BROWSER ? await viewsOf(service) : [];
    const loads: WatchedLoad[] = [];
    for (const alone of [readOf(service), callOf(service)]) {
      const watched = { ...alone, name: `${alone.name}, ${CONSOLES} consoles open` };
      await warmUp([alone]);
      const turns = await inTurns([alone, watched], run.rounds, async (target) => {
        const close = target === watched ? openConsoles(service) : () => {};
        const round = await saturate(target, run.seconds);
        close();
        return round;
      });
      const toAlone = turns.rateTo(watched, alone);
      loads.push({ name: alone.name, alone: turns.of(alone), watched: turns.of(watched), toAlone });
    }
    return { views, loads };
  } finally {
    await service.stop();
    await workspace.remove();
  }
}

async function viewsOf({ url }: RunningService): Promise<FirstView[]> {
  const { browser, close } = await startBrowser();
  const views: FirstView[] = [];
  while (views.length < VIEWS) views.push(await firstView(browser, url));
  await close();
  return views;
}

/** Makes the requests of ten open overviews. @returns a function that closes them */
function openConsoles({ url, apiKey: key }: RunningService): () => void {
  const leaving = new AbortController();
  const { signal } = leaving;
  const timers = Array.from({ length: CONSOLES }, () => {
    const client = new ApiClient({ url, key });
    const look = () => {
      const page = { query: { per_page: 100 } };
      for (const asked of [
        client.call('listRelayers', page, signal),
        client.call('listPlugins', page, signal),
        ...ALERT_METRICS.map((name) => client.call('getMetric', { path: { name } }, signal)),
      ]) {
        asked.catch(unlessClosed);
      }
    };
    const unlessClosed = (error: unknown) => {
      if (!signal.aborted) throw error;
    };
    drain(client.follow({}, signal)).catch(unlessClosed);
    look();
    return setInterval(look, LOOK_EVERY_MS);
  });
  return () => {
    leaving.abort();
    for (const timer of timers) clearInterval(timer);
  };
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

function readOf({ url, apiKey, pid }: RunningService): Target {
  return {
    name: 'GET a notification',
    pid,
    method: 'GET',
    body: '',
    url: `${url}/api/v1/notifications/hook`,
    headers: { authorization: `Bearer ${apiKey}` },
  };
}

function callOf({ url, apiKey, pid }: RunningService): Target {
  return {
    name: 'a plugin call',
    pid,
    body: '{"params":{}}',
    url: `${url}/api/v1/plugins/echo/call`,
    headers: { authorization: `Bearer ${apiKey}` },
  };
}
