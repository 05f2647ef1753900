import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { AlertStage } from './alerts.ts';
import { parseExposition } from './exposition.ts';
import type { StartedService } from './service.ts';

/** A real server whose metrics a Prometheus with our rules looks at. */
export interface AlertScene<S extends StartedService = StartedService> {
  readonly service: S;
  readonly alerts: AlertStage;
  /** What the server says now; null when it does not answer. */
  scrape(): Promise<string | null>;
  /** So many minutes by the Prometheus, in each of which something may be done first. */
  minutes(count: number, each?: (minute: number) => unknown): Promise<void>;
  /** Waits until a counter, over all its labels, is above what it is now, by the server's own word. */
  untilCounted(metric: string): Promise<void>;
  /** Minutes until an alert fires, whatever else does; fails after so many. */
  untilFires(alert: string, most: number, each?: (minute: number) => unknown): Promise<void>;
  /** Starts it anew on what it had. */
  restart(whileDown?: () => unknown): Promise<void>;
}

/** Scrapes before anything happens, so that counters have something to rise from. */
const QUIET_MINUTES = 6;

/** What a machine that is busy with other things may lead to at any time. */
const BY_SPEED = ['IsolayerEventLoopStalled', 'IsolayerStoreSlow'];

/** Starts the server and lets some minutes pass, in which no rule finds anything. @param start where the server runs */
export async function alertScene<S extends StartedService>(
  t: Test,
  env: Record<string, string>,
  start: (env: Record<string, string>) => Promise<S>,
): Promise<AlertScene<S>> {
  const alerts = new AlertStage();
  const all = { ...env, METRICS_ENABLED: 'true', METRICS_PORT: '0' };
  // One connection for all scrapes: it has to answer also when there is none to be had any more.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let service = await start(all);
  t.teardown(async () => {
    agent.destroy();
    await service.end();
  });
  const scene: AlertScene<S> = {
    get service() {
      return service;
    },
    alerts,
    scrape() {
      const address = /"metricsAddress":"([^"]+)"/.exec(service.output())?.[1];
      return new Promise((resolve) => {
        const request = get(`${address}/metrics`, { agent }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => resolve(text));
          response.on('error', () => resolve(null));
        });
        request.on('error', () => resolve(null));
      });
    },
    async untilCounted(metric) {
      const before = sumOf(metric, await scene.scrape());
      while (!(sumOf(metric, await scene.scrape()) > before)) await delay(250);
    },
    async minutes(count, each = () => {}) {
      for (let minute = 0; minute < count; minute += 1) {
        await each(minute);
        alerts.minute(await scene.scrape());
      }
    },
    async untilFires(alert, most, each) {
      for (let minute = 0; minute < most && !alerts.firing.includes(alert); minute += 1) await scene.minutes(1, each);
      t.ok(alerts.firing.includes(alert), `${alert} fires; now ${alerts.firing.join(', ')}`);
    },
    async restart(whileDown = () => {}) {
      await service.stop();
      await whileDown();
      service = await start(all);
    },
  };
  await scene.minutes(QUIET_MINUTES);
  t.strictSame(
    alerts.pending.filter((alert) => !BY_SPEED.includes(alert)),
    [],
    'all is quiet',
  );
  return scene;
}

function sumOf(metric: string, text: string | null): number {
  const samples = text === null ? [] : (parseExposition(text).get(metric)?.samples ?? []);
  return samples.reduce((sum, { value }) => sum + value, 0);
}

/** That these alerts fire and, beside those that may, no other. */
export function firesOnly(
  t: Test,
  { alerts }: AlertScene,
  expected: readonly string[],
  may: readonly string[] = [],
): void {
  const { firing } = alerts;
  for (const alert of expected) t.ok(firing.includes(alert), `${alert} fires`);
  t.strictSame(
    firing.filter((alert) => ![...expected, ...may, ...BY_SPEED].includes(alert)),
    [],
    'and nothing that has no reason to',
  );
}

/** That these alerts, which were quiet at first, have all fired: a check over all files looks for the names here. */
export function firedAll(t: Test, { alerts }: AlertScene, names: readonly string[]): void {
  for (const name of names) t.ok(alerts.fired.has(name), `${name} has fired`);
}
