/**
 * Measures how the cost of the service grows: with many relayers, plugins and ended transactions, with a backlog, and
 * with time. All run on the embedded database and on anvil. The database is filled while no service runs.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { computeAddress } from 'ethers';
import { Agent } from 'undici';
import { startAnvil } from '../../support/anvil.ts';
import { fillEnded } from '../../support/history.ts';
import { TRANSACTIONS, TRANSFER } from '../../support/instances.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { longestStallMs } from './loop-stall.ts';
import { mainThreadMicrosOf, memoryBelow, memoryOf } from './process-figures.ts';
import { accept, each, until } from './relaying.ts';

export interface GrowthBench {
  relayers: number;
  plugins: number;
  active: number;
  final: number;
  backlog: number;
  /** How long a service is watched in each stage. */
  seconds: number;
  /** Sends per second, for as many seconds: a day in short. */
  day: { rate: number; seconds: number };
}

/** What a service costs for a while. */
export interface StageFigures {
  name: string;
  /** From the start of the process until it is ready; null: it ran before. */
  readySeconds: number | null;
  /** How much of its time the main loop is busy. */
  cpu: number;
  mainMib: number;
  /** Of all its plugins' processes. */
  pluginsMib: number;
  stallMs: number;
  /** How long a scrape of the metrics takes. */
  scrapeMs: number;
  /** The database with its log. */
  databaseMib: number;
  /** How long the slowest send took, and how many failed; null: none was made. */
  sends: { longestMs: number; failed: number } | null;
}

export interface GrowthFigures {
  stages: StageFigures[];
  /** Medians of single requests with the whole history, in milliseconds. */
  reads: { name: string; ms: number }[];
}

/** Ended transactions are kept for this long, so that a short day sees them go: 36 s. */
const KEPT_HOURS = '0.01';
const PATIENCE_MS = 600_000;

export async function benchGrowth(bench: GrowthBench): Promise<GrowthFigures> {
  const ids = Array.from({ length: bench.plugins }, (_, index) => `plugin-${index}`);
  const handler = 'export async function handler({ params }) { return params; }';
  const anvil = await startAnvil({ blockTime: 1, args: ['--gas-limit', '1000000000'] });
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    env: {
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
      TRANSACTION_EXPIRATION_HOURS: '87600',
    },
    pluginFiles: Object.fromEntries(ids.map((id) => [`${id}.ts`, handler])),
    plugins: ids.map((id) => ({ id, path: `${id}.ts` })),
  });
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 24n).toString(16)}`]);
  const database = join(workspace.dir, 'data', 'isolayer.db');
  const env = { ...workspace.env, NODE_COMPILE_CACHE: join(workspace.dir, 'compiled') };
  const stages: StageFigures[] = [];
  const agent = new Agent();

  async function figuresOf(
    name: string,
    service: RunningService,
    during: () => Promise<StageFigures['sends'] | void>,
    ready?: number,
  ) {
    await longestStallMs(service);
    const [before, began] = [await mainThreadMicrosOf(service.pid), performance.now()];
    const sends = (await during()) ?? null;
    const cpu = ((await mainThreadMicrosOf(service.pid)) - before) / ((performance.now() - began) * 1000);
    const scraped = performance.now();
    const stallMs = await longestStallMs(service);
    const stage = {
      name,
      readySeconds: ready ?? null,
      cpu,
      mainMib: await memoryOf(service.pid, 'Rss'),
      pluginsMib: await memoryBelow(service.pid),
      stallMs,
      scrapeMs: performance.now() - scraped,
      databaseMib: await sizeOf(database),
      sends,
    };
    stages.push(stage);
    // At once: a later stage may fail.
    process.stderr.write(`${JSON.stringify(stage)}\n`);
  }

  async function started(changes: Record<string, string> = {}): Promise<{ service: RunningService; ready: number }> {
    const began = performance.now();
    const service = await startService({ ...env, ...changes });
    return { service, ready: (performance.now() - began) / 1000 };
  }

  const idle = () => sleep(bench.seconds * 1000);
  try {
    const first = await started();
    await accept(first.service, agent, TRANSFER);
    await untilOpen(first.service, 0);
    await figuresOf(`${bench.plugins} plugins, one relayer, idle`, first.service, idle, first.ready);
    const accounts = await addSigners(first.service, bench.relayers - 1);
    await first.service.stop();

    fillEnded(database, { relayerId: 'local-1', count: bench.final });
    copyRelayers(database, accounts);
    const grown = await started();
    await figuresOf('all relayers and final ones, idle', grown.service, idle, grown.ready);
    await untilFit(grown.service, bench.relayers);
    const calling = async () => {
      for (const id of ids.slice(0, bench.active)) await grown.service.call(id);
      await idle();
    };
    await figuresOf(`${bench.active} active plugins`, grown.service, calling);
    const reads = await readsOf(grown.service, bench.final);
    await grown.service.stop();

    addBacklog(database, bench.backlog);
    const busy = await started();
    await figuresOf('a backlog', busy.service, idle, busy.ready);
    await untilOpen(busy.service, 0);
    await busy.service.stop();

    // The history goes at once, because it is older than what is kept.
    const daily = await started({ TRANSACTION_EXPIRATION_HOURS: KEPT_HOURS });
    const { rate, seconds } = bench.day;
    for (const quarter of [1, 2, 3, 4]) {
      const sending = async () => {
        const began = performance.now();
        const sends = { longestMs: 0, failed: 0 };
        for (let sent = 0; sent < (rate * seconds) / 4; sent += 1) {
          await sleep(Math.max(0, began + (sent * 1000) / rate - performance.now()));
          const asked = performance.now();
          await accept(daily.service, agent, TRANSFER).catch((error: unknown) => {
            sends.failed += 1;
            process.stderr.write(`${error}\n`);
          });
          sends.longestMs = Math.max(sends.longestMs, performance.now() - asked);
        }
        return sends;
      };
      await figuresOf(`day, quarter ${quarter}`, daily.service, sending);
    }
    await daily.service.stop();
    return { stages, reads };
  } finally {
    await agent.close();
    await anvil.stop();
    await workspace.remove();
  }
}

async function sizeOf(path: string): Promise<number> {
  const sizes = await Promise.all([path, `${path}-wal`].map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
}

async function untilOpen(service: RunningService, count: number): Promise<void> {
  const isDone = async () => {
    const { body } = await service.request('GET', '/api/v1/relayers/local-1/status');
    return body.data.pending_transactions_count <= count;
  };
  await until(isDone, 1_000, PATIENCE_MS);
}

async function readsOf(service: RunningService, final: number): Promise<GrowthFigures['reads']> {
  const paths = {
    'a relayer': '/api/v1/relayers/local-1',
    'ten relayers': '/api/v1/relayers',
    'ten transactions, the newest': TRANSACTIONS,
    'ten transactions, the middle': `${TRANSACTIONS}?page=${Math.floor(final / 20)}`,
    'ten confirmed transactions': `${TRANSACTIONS}?status=confirmed`,
    'the status of a relayer': '/api/v1/relayers/local-1/status',
  };
  const reads = [];
  for (const [name, path] of Object.entries(paths)) {
    const took: number[] = [];
    for (let count = 0; count < 21; count += 1) {
      const began = performance.now();
      const { status } = await service.request('GET', path);
      if (status !== 200) throw new Error(`${path} was answered ${status}`);
      took.push(performance.now() - began);
    }
    reads.push({ name, ms: took.toSorted((a, b) => a - b)[10] ?? Number.NaN });
  }
  return reads;
}

/** Makes signers over the API, which seals their keys. @returns their accounts */
async function addSigners(service: RunningService, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, index) => (index + 1).toString(16).padStart(64, '0'));
  await each([...keys.entries()], async ([index, key]) => {
    const body = { id: `key-${index}`, type: 'plain', config: { key } };
    const { status } = await service.request('POST', '/api/v1/signers', body);
    if (status !== 201) throw new Error(`a signer was answered ${status}`);
  });
  return keys.map((key) => computeAddress(`0x${key}`).toLowerCase());
}

/** Copies `local-1` to these accounts. The copies are paused and need no balance: they only have to be looked after. */
function copyRelayers(path: string, accounts: readonly string[]): void {
  write(
    path,
    `insert into relayers (id, revision, created_at, name, network, network_type, address, paused, signer_id, policies)
      select 'copy-' || key, key, created_at, name, network, network_type, value, 1, 'key-' || key,
        json_set(policies, '$.min_balance', 0)
      from (select key, value from json_each('${JSON.stringify(accounts)}')), (select * from relayers where id = 'local-1')`,
  );
}

/** Waits until the last and the first relayers are fit, which were checked at the start. @throws when one is not */
async function untilFit(service: RunningService, relayers: number): Promise<void> {
  const pages = [1, Math.ceil(relayers / 100)];
  const isDone = async () => {
    const asked = pages.map((page) => service.request('GET', `/api/v1/relayers?per_page=100&page=${page}`));
    const answers = await Promise.all(asked);
    return answers.every(({ body }) => body.data.every((one: { system_disabled: boolean }) => !one.system_disabled));
  };
  await until(isDone, 1_000, PATIENCE_MS);
}

/** Pending transactions like the one that was sent. */
function addBacklog(path: string, count: number): void {
  const like = `from transactions where lane not like 'evm:1:%' order by accepted limit 1`;
  write(
    path,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, request, fields,
        anchor_kind, on_death, next_action_at)
      select 'open-' || i, relayer_id, i, network_type, lane, 'pending', created_at, request, '{}', anchor_kind, on_death,
        created_at from n, (select * ${like})`,
  );
}

function write(path: string, statement: string): void {
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = off; begin; ${statement}; commit`);
  database.close();
}
