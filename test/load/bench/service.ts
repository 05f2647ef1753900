/**
 * Measures the start time and the idle memory of the service, and the cost of reads and sends over its REST API when
 * the store has a long history. `evm.ts` measures how fast sends are mined.
 */
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { startAnvil } from '../../support/anvil.ts';
import { fillEnded } from '../../support/history.ts';
import { TRANSACTIONS, TRANSFER } from '../../support/instances.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { BLOCK_GAS, BLOCK_SECONDS } from './evm.ts';
import { inTurns, type Ratio, type Round, saturate, type Target, warmUp } from './load.ts';
import { longestStallMs } from './loop-stall.ts';
import { type EmptyRoute, startEmptyRoute } from './peers.ts';
import { familyOf, memoryBelow, memoryOf } from './process-figures.ts';
import { until } from './relaying.ts';

export interface ServiceFigures {
  /** From the start of the process until it is ready, with ten plugins and no compile cache yet. */
  firstReadySeconds: number;
  /** The same with the compile cache of an earlier start. `npm start` keeps such a cache as well. */
  readySeconds: number;
  /** Resident memory of the main process, idle, in MiB. */
  mainMib: number;
  /** The memory that each further active plugin adds, in MiB of `Pss`. */
  pluginMib: number;
  reads: RequestFigures;
  sends: RequestFigures;
}

/** The figures of 32 busy connections. */
export interface RequestFigures {
  /** The first row is an empty route of the same method. `toEmpty` is the ratio to its rate. */
  rows: { name: string; busy: Round; toEmpty: Ratio }[];
  /** The longest time for which the service's main loop was blocked during the rounds, in milliseconds. */
  stallMs: number;
  /** The same for the process of the empty route. */
  emptyStallMs: number;
}

const PLUGINS = 10;
const ACTIVE = 5;
const PATIENCE_MS = 120_000;

interface Run {
  seconds: number;
  rounds: number;
}

/** Starts a service with ten plugins, calls some of them, then reads and sends with `final` ended transactions. */
export async function benchService({ final, ...run }: Run & { final: number }): Promise<ServiceFigures> {
  const ids = Array.from({ length: PLUGINS }, (_, index) => `plugin-${index}`);
  const handler = 'export async function handler({ params }) { return params; }';
  const anvil = await startAnvil({ blockTime: BLOCK_SECONDS, args: ['--gas-limit', String(BLOCK_GAS)] });
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
    const reads = await requests(service, empty, run, [
      { ...empty.target, name: 'empty route, GET', method: 'GET' },
      readOf(service, 'GET a notification', '/api/v1/notifications/hook'),
      readOf(service, 'GET a relayer', '/api/v1/relayers/local-1'),
      readOf(service, 'GET a transaction', `${TRANSACTIONS}/t${final - 1}`),
      readOf(service, 'list 10, the newest', TRANSACTIONS),
      readOf(service, 'list 10, from the middle', `${TRANSACTIONS}?page=${Math.floor(final / 20)}`),
    ]);
    const sends = await requests(service, empty, run, [
      { ...empty.target, name: 'empty route, POST' },
      sendTo(service),
    ]);
    return { firstReadySeconds: first.seconds, readySeconds, mainMib, pluginMib, reads, sends };
  } finally {
    await service.stop();
    await empty.stop();
    await anvil.stop();
    await workspace.remove();
  }
}

/** Measures the targets in alternation. The first is the empty route. */
async function requests(
  service: RunningService,
  empty: EmptyRoute,
  { seconds, rounds }: Run,
  targets: Target[],
): Promise<RequestFigures> {
  const [route] = targets;
  if (route === undefined) throw new Error('nothing to compare with');
  await warmUp(targets);
  await untilMined(service);
  await Promise.all([longestStallMs(service), empty.longestStallMs()]);
  const busy = await inTurns(targets, rounds, async (target) => {
    const round = await saturate(target, seconds);
    // Transactions that are still open would take processor time from the next round.
    await untilMined(service);
    return round;
  });
  const rows = targets.map((target) => ({
    name: target.name,
    busy: busy.of(target),
    toEmpty: busy.rateTo(target, route),
  }));
  return { rows, stallMs: await longestStallMs(service), emptyStallMs: await empty.longestStallMs() };
}

async function untilMined(service: RunningService): Promise<void> {
  const isMined = async () => {
    const { body } = await service.request('GET', '/api/v1/relayers/local-1/status');
    return body.data.pending_transactions_count === 0;
  };
  await until(isMined, 100, PATIENCE_MS);
}

async function timedStart(env: Record<string, string>): Promise<{ service: RunningService; seconds: number }> {
  const began = performance.now();
  const service = await startService(env);
  return { service, seconds: (performance.now() - began) / 1000 };
}

/** The first plugin is left out, because it may take the spare process, whose memory was counted before. */
async function perPlugin(service: RunningService, ids: readonly string[]): Promise<number> {
  const [first = '', ...others] = ids.slice(0, ACTIVE + 1);
  await service.call(first);
  const before = await settledBelow(service);
  for (const id of others) await service.call(id);
  return ((await settledBelow(service)) - before) / others.length;
}

/**
 * The memory of all processes below the service, in MiB. Waits until no process starts or ends: after the first call of
 * a plugin the service prepares a new spare process.
 */
async function settledBelow(service: RunningService): Promise<number> {
  for (let known = ''; ; ) {
    const family = (await familyOf(service.pid)).join();
    if (family === known) return memoryBelow(service.pid);
    known = family;
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

function readOf({ url, apiKey, pid }: RunningService, name: string, path: string): Target {
  const headers = { authorization: `Bearer ${apiKey}` };
  return { name, pid, method: 'GET', url: `${url}${path}`, headers, body: '' };
}

function sendTo({ url, apiKey, pid }: RunningService): Target {
  const headers = { authorization: `Bearer ${apiKey}` };
  return { name: 'send a transaction', pid, url: `${url}${TRANSACTIONS}`, headers, body: JSON.stringify(TRANSFER) };
}

function webhook(): object {
  const signing_key = { type: 'plain', value: Wallet.createRandom().privateKey };
  return { id: 'hook', type: 'webhook', url: 'https://example.com/hook', signing_key };
}
