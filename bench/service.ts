/**
 * What the service takes before anybody asks for anything, and what reads of its REST API cost beside a long history. Sends
 * are measured in `evm.ts`.
 */
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { startAnvil } from '../test/support/anvil.ts';
import { fillEnded } from '../test/support/history.ts';
import { TRANSACTIONS, TRANSFER } from '../test/support/instances.ts';
import { type RunningService, startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { inTurns, type Ratio, type Round, saturate, type Target, warmUp } from './load.ts';
import { longestStallMs } from './loop-stall.ts';
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
  /** The longest time for which the main loop did nothing else during the reads, in milliseconds. */
  stallMs: number;
}

const PLUGINS = 10;
const ACTIVE = 5;

/** Starts a service with ten plugins, lets some of them run, then reads beside `final` transactions that have ended. */
export async function benchService({
  seconds,
  rounds,
  final,
}: {
  seconds: number;
  rounds: number;
  final: number;
}): Promise<ServiceFigures> {
  const ids = Array.from({ length: PLUGINS }, (_, index) => `plugin-${index}`);
  const handler = 'export async function handler({ params }) { return params; }';
  const anvil = await startAnvil();
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: Object.fromEntries(ids.map((id) => [`${id}.ts`, handler])),
    plugins: ids.map((id) => ({ id, path: `${id}.ts` })),
    config: { notifications: [webhook()] },
    env: {
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
      TRANSACTION_EXPIRATION_HOURS: '87600',
    },
  });
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const empty = await startEmptyRoute();
  const env = { ...workspace.env, NODE_COMPILE_CACHE: join(workspace.dir, 'compiled') };
  const first = await timedStart(env);
  const sent = await first.service.request('POST', TRANSACTIONS, TRANSFER);
  if (sent.status !== 200) throw new Error(`a send was answered ${sent.status} ${JSON.stringify(sent.body)}`);
  await first.service.stop();
  fillEnded(join(workspace.dir, 'data', 'isolayer.db'), { relayerId: 'local-1', count: final });
  const { service, seconds: readySeconds } = await timedStart(env);
  try {
    const mainMib = await memoryOf(service.pid, 'Rss');
    const pluginMib = await perPlugin(service, ids);
    const route = { ...empty.target, method: 'GET' as const };
    const targets = [
      route,
      readOf(service, 'GET a notification', '/api/v1/notifications/hook'),
      readOf(service, 'GET a transaction', `${TRANSACTIONS}/t${final}`),
      readOf(service, 'list 10 transactions, the newest', TRANSACTIONS),
      readOf(service, 'list 10 transactions, from the middle', `${TRANSACTIONS}?page=${Math.floor(final / 20)}`),
    ];
    await warmUp(targets);
    await longestStallMs(service);
    const busy = await inTurns(targets, rounds, (target) => saturate(target, seconds));
    const reads = targets.map((target) => ({
      name: target.name,
      busy: busy.of(target),
      toEmpty: busy.rateTo(target, route),
    }));
    const stallMs = await longestStallMs(service);
    return { firstReadySeconds: first.seconds, readySeconds, mainMib, pluginMib, reads, stallMs };
  } finally {
    await service.stop();
    await empty.stop();
    await anvil.stop();
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

function readOf({ url, apiKey, pid }: RunningService, name: string, path: string): Target {
  return {
    name,
    pid,
    method: 'GET',
    url: `${url}${path}`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: '',
  };
}

function webhook(): object {
  const signing_key = { type: 'plain', value: Wallet.createRandom().privateKey };
  return { id: 'hook', type: 'webhook', url: 'https://example.com/hook', signing_key };
}
