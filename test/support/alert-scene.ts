import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { AlertStage } from './alerts.ts';
import { parseExposition } from './exposition.ts';
import type { StartedService } from './service.ts';

/** A real server. A stand-in for Prometheus evaluates our alert rules on its metrics. */
export interface AlertScene<S extends StartedService = StartedService> {
  readonly service: S;
  readonly alerts: AlertStage;
  /** The server's metrics now; null when it does not answer. */
  scrape(): Promise<string | null>;
  /** Lets that many minutes of Prometheus time pass. `each` runs before each minute. */
  minutes(count: number, each?: (minute: number) => unknown): Promise<void>;
  /** Waits until a counter, summed over all labels, is above its present value in the server's metrics. */
  untilCounted(metric: string): Promise<void>;
  /** Lets minutes pass until an alert fires, whatever other alerts do. Fails after `most` minutes. */
  untilFires(alert: string, most: number, each?: (minute: number) => unknown): Promise<void>;
  /** Starts the server again on its data. */
  restart(whileDown?: () => unknown): Promise<void>;
}

/** Minutes of scrapes before anything happens, so that counters have a value to rise from. */
const QUIET_MINUTES = 6;

/** Alerts that may fire at any time on a busy machine. */
const BY_SPEED = ['IsolayerEventLoopStalled', 'IsolayerStoreSlow'];

/**
 * Starts the server and lets some minutes pass, in which no alert fires.
 * @param start where the server runs
 */
export async function alertScene<S extends StartedService>(
  t: Test,
  env: Record<string, string>,
  start: (env: Record<string, string>) => Promise<S>,
): Promise<AlertScene<S>> {
  const alerts = new AlertStage();
  const all = { ...env, METRICS_ENABLED: 'true', METRICS_PORT: '0' };
  // One connection for all scrapes. It still answers when the server accepts no more connections.
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

/** Asserts that these alerts fire, and no others except those that may. */
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

/**
 * Asserts that these alerts, which were quiet at first, have all fired. A check over all test files looks for the names
 * in calls of this function.
 */
export function firedAll(t: Test, { alerts }: AlertScene, names: readonly string[]): void {
  for (const name of names) t.ok(alerts.fired.has(name), `${name} has fired`);
}
