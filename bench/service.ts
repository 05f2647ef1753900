/** What the service takes before anybody asks for anything, and what a read of its REST API costs. */
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { type RunningService, startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { inTurns, type Ratio, type Round, saturate, type Target, warmUp } from './load.ts';
import { startEmptyRoute } from './peers.ts';
import { familyOf, memoryBelow, memoryOf } from './process-figures.ts';

export interface ServiceFigures {
  /** From the start of the process until it says that it is ready, with ten plugins: the first time on a machine. */
  firstReadySeconds: number;
  /** The same when an earlier start has left what it compiled, as `npm start` does. */
  readySeconds: number;
  /** Resident memory of the main process, idle, in MiB. */
  mainMib: number;
  /** What each further active plugin adds, in MiB of `Pss`. */
  pluginMib: number;
  /** An empty GET route, and a read of the REST API. */
  /** 32 connections kept busy, and their rate as a ratio to that of the empty route. */
  reads: { name: string; busy: Round; toEmpty: Ratio }[];
}

const PLUGINS = 10;
const ACTIVE = 5;

/** Starts a service with ten plugins, lets some of them run, then reads. */
export async function benchService({ seconds, rounds }: { seconds: number; rounds: number }): Promise<ServiceFigures> {
  const ids = Array.from({ length: PLUGINS }, (_, index) => `plugin-${index}`);
  const handler = 'export async function handler({ params }) { return params; }';
  const workspace = await createWorkspace({
    pluginFiles: Object.fromEntries(ids.map((id) => [`${id}.ts`, handler])),
    plugins: ids.map((id) => ({ id, path: `${id}.ts` })),
    config: { notifications: [webhook()] },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000', LOG_LEVEL: 'info' },
  });
  const empty = await startEmptyRoute();
  const env = { ...workspace.env, NODE_COMPILE_CACHE: join(workspace.dir, 'compiled') };
  const first = await timedStart(env);
  await first.service.stop();
  const { service, seconds: readySeconds } = await timedStart(env);
  try {
    const mainMib = await memoryOf(service.pid, 'Rss');
    const pluginMib = await perPlugin(service, ids);
    const route = { ...empty.target, method: 'GET' as const };
    const targets = [route, readOf(service)];
    await warmUp(targets);
    const busy = await inTurns(targets, rounds, (target) => saturate(target, seconds));
    const reads = targets.map((target) => ({
      name: target.name,
      busy: busy.of(target),
      toEmpty: busy.rateTo(target, route),
    }));
    return { firstReadySeconds: first.seconds, readySeconds, mainMib, pluginMib, reads };
  } finally {
    await service.stop();
    await empty.stop();
    await workspace.remove();
  }
}

async function timedStart(env: Record<string, string>): Promise<{ service: RunningService; seconds: number }> {
  const began = performance.now();
  const service = await startService(env);
  return { service, seconds: (performance.now() - began) / 1000 };
}

/** After the first one, which may take the spare process that was there before. */
async function perPlugin(service: RunningService, ids: readonly string[]): Promise<number> {
  const [first = '', ...others] = ids.slice(0, ACTIVE + 1);
  await service.call(first);
  const before = await settledBelow(service);
  for (const id of others) await service.call(id);
  return ((await settledBelow(service)) - before) / others.length;
}

/** The memory below the service once no process comes or goes: a spare is being made ready after each first call. */
async function settledBelow(service: RunningService): Promise<number> {
  for (let known = ''; ; ) {
    const family = (await familyOf(service.pid)).join();
    if (family === known) return memoryBelow(service.pid);
    known = family;
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

function readOf({ url, apiKey, pid }: RunningService): Target {
  return {
    name: 'GET a notification',
    pid,
    method: 'GET',
    url: `${url}/api/v1/notifications/hook`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: '',
  };
}

function webhook(): object {
  const signing_key = { type: 'plain', value: Wallet.createRandom().privateKey };
  return { id: 'hook', type: 'webhook', url: 'https://example.com/hook', signing_key };
}
