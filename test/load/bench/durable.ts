/**
 * Measures durable calls: what many of them take while they sleep, how late they wake, and what a call costs beside one
 * that is not durable.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/observability/log.ts';
import { createSealer } from '../../../src/store/sealing.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import { startAnvil } from '../../support/anvil.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';
import { inTurns, type Round, type Target } from './load.ts';
import { cpuMicrosOf, memoryOf } from './process-figures.ts';

export interface DurableBench {
  /** Calls that sleep at once. */
  sleeping: number;
  /** Calls that wake within the given seconds, and calls that wake in one second. */
  waking: number;
  seconds: number;
  together: number;
  /** Calls of each kind in a round, and rounds. */
  calls: number;
  rounds: number;
}

/** How much later than asked calls went on, in milliseconds. */
export interface Lateness {
  p50: number;
  p99: number;
  last: number;
}

export interface DurableFigures {
  /** What the sleeping calls add to the main process, in MiB, and how many of them run. */
  sleepingMib: number;
  running: number;
  spread: Lateness;
  together: Lateness;
  rows: { name: string; round: Round; toPlain: number; cpuToPlain: number; commits: number }[];
}

const HOUR = 3_600_000;
const SETTLE_MS = 15_000;
/** How long the service may take from its start until the first call is due. */
const LEAD_MS = 20_000;
const BATCH = 500;
const CONNECTIONS = 16;
const COUNTED = 20;
const PATIENCE_MS = 600_000;

const SLEEPER = `export async function handler({ api, params }) {
  await api.sleep(params.ms);
  return Date.now();
}`;
const WORKER = `export async function handler({ api, kv, params }) {
  const status = await api.useRelayer('local-1').getRelayerStatus();
  if (params.writes) await kv.set('key', crypto.randomUUID());
  return [await kv.get('key'), status.paused];
}`;

export async function benchDurable(run: DurableBench): Promise<DurableFigures> {
  const key = randomBytes(32);
  const anvil = await startAnvil({ blockTime: 1 });
  const entry = { timeout: 60, limits: { concurrency: 512, process_mb: 2048 } };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'sleeper.ts': SLEEPER, 'worker.ts': WORKER },
    plugins: [
      { id: 'sleeper', path: 'sleeper.ts', durable: true, ...entry },
      { id: 'durable', path: 'worker.ts', durable: true, ...entry },
      { id: 'plain', path: 'worker.ts', ...entry },
    ],
    env: {
      ...{ RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
      STORAGE_ENCRYPTION_KEY: key.toString('base64'),
    },
  });
  try {
    const first = await startService(workspace.env);
    const { body } = await first.call('sleeper', { ms: 1 });
    if (typeof body.data !== 'number') throw new Error(`the sleeper was answered ${JSON.stringify(body)}`);
    const rows = await kinds(first, workspace, run);
    await first.stop();
    const within = async (count: number, ms: number) => {
      const began = Date.now() + LEAD_MS;
      const dues = Array.from({ length: count }, () => began + Math.random() * ms);
      return await woken(workspace, await fill(workspace, key, dues));
    };
    const empty = await settled(workspace);
    const far = Array.from({ length: run.sleeping }, (_, index) => Date.now() + 3 * HOUR + index * 1_000);
    await fill(workspace, key, far);
    const full = await settled(workspace);
    return {
      sleepingMib: full.mib - empty.mib,
      running: full.running,
      spread: await within(run.waking, run.seconds * 1000),
      together: await within(run.together, 1),
      rows,
    };
  } finally {
    await anvil.stop();
    await workspace.remove();
  }
}

/** Stores calls that sleep until the given moments, as if each had begun an hour before. Returns the moments by id. */
async function fill(workspace: Workspace, key: Uint8Array, dues: readonly number[]): Promise<Map<string, number>> {
  const store = await openSqliteStore({
    ...{ path: join(workspace.dir, 'data', 'isolayer.db'), clock: systemClock, log: createLog('silent') },
    sealer: createSealer([key], randomBytes),
  });
  const ids = new Map<string, number>();
  try {
    const { items } = await store.read.calls('sleeper', { page: 1, perPage: 1 }, { state: 'returned' });
    const [model] = items;
    const start = model && (await store.read.journal(model.id))[0]?.page.start;
    if (model === undefined || start === undefined) throw new Error('no call to begin with');
    const asked = { ...model.request, params: { ms: HOUR } };
    const context = JSON.stringify({ ...(JSON.parse(start.context) as object), params: asked.params });
    for (let from = 0; from < dues.length; from += BATCH) {
      await store.write(async (writer) => {
        for (const due of dues.slice(from, from + BATCH).map(Math.floor)) {
          const id = crypto.randomUUID();
          const { pluginId, keyId, version, trigger } = model;
          const call = { id, pluginId, keyId, key: id, fingerprint: '', version, request: asked, trigger };
          await writer.insertCall({ ...call, lifetimeMs: 24 * HOUR });
          await writer.claimCall(id, { forMs: HOUR, version });
          const seed = randomBytes(32).toString('hex');
          const page = { start: { ...start, seed, now: due - HOUR, context }, deliveries: [] };
          await writer.suspendCall(
            { id, token: 1 },
            {
              waitsFor: [{ kind: 'time', until: due }],
              ...{ inMs: due - Date.now(), events: 0, deaths: 0, entry: { position: 0, page } },
            },
          );
          ids.set(id, due);
        }
      });
    }
  } finally {
    await store.close();
  }
  return ids;
}

/** The memory of the main process of a service that does nothing. */
async function settled(workspace: Workspace): Promise<{ mib: number; running: number }> {
  const service = await startService(workspace.env);
  try {
    await sleep(SETTLE_MS);
    const { body } = await service.request('GET', '/api/v1/plugins/sleeper');
    return { mib: await memoryOf(service.pid, 'Pss'), running: body.data.now.calls_running };
  } finally {
    await service.stop();
  }
}

/** Starts the service, and waits until the calls have ended. */
async function woken(workspace: Workspace, dues: ReadonlyMap<string, number>): Promise<Lateness> {
  const service = await startService(workspace.env);
  try {
    const late: number[] = [];
    for (const [id, due] of dues) {
      const view = async () => (await service.request('GET', `/api/v1/plugins/sleeper/calls/${id}`)).body.data;
      const call = await eventually(view, ({ ended_at: at }) => at !== null, PATIENCE_MS);
      if (call.state !== 'returned') throw new Error(`a call ended so: ${JSON.stringify(call)}`);
      late.push(call.answer - due);
    }
    late.sort((a, b) => a - b);
    const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99), last: at(1) };
  } finally {
    await service.stop();
  }
}

/** Calls of the same code, plain, with an idempotency key, and durable, in turns; first without effects, then with one. */
async function kinds(
  service: RunningService,
  workspace: Workspace,
  run: DurableBench,
): Promise<DurableFigures['rows']> {
  const rows: DurableFigures['rows'] = [];
  for (const writes of [false, true]) {
    const target = (name: string, id: string) => ({
      ...{ name: `${name}, ${writes ? 'one effect' : 'reads alone'}`, pid: service.pid },
      url: `${service.url}/api/v1/plugins/${id}/call`,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ params: { writes } }),
    });
    const [plain, keyed, durable] = [target('plain', 'plain'), target('keyed', 'plain'), target('durable', 'durable')];
    const all = [plain, keyed, durable];
    const measure = (one: Target, calls = run.calls) => many(one, calls, one === keyed);
    for (const one of all) await measure(one);
    const turns = await inTurns(all, run.rounds, measure);
    for (const one of all) {
      const count = await commitsOf(workspace, async () => {
        for (let call = 0; call < COUNTED; call += 1) await measure(one, 1);
      });
      const round = turns.of(one);
      rows.push({
        ...{ name: one.name, round, toPlain: turns.rateTo(one, plain).median },
        cpuToPlain: round.cpu / turns.of(plain).cpu,
        commits: count / COUNTED,
      });
    }
  }
  return rows;
}

async function many(target: Target, calls: number, isKeyed: boolean): Promise<Round> {
  const agent = new Agent({ connections: CONNECTIONS });
  const took: number[] = [];
  const before = await cpuMicrosOf(target.pid);
  const began = performance.now();
  let left = calls;
  const worker = async () => {
    while (left-- > 0) {
      const asked = performance.now();
      const headers = isKeyed ? { ...target.headers, 'idempotency-key': crypto.randomUUID() } : target.headers;
      const answer = await request(target.url, { method: 'POST', headers, body: target.body, dispatcher: agent });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${target.name}: ${answer.statusCode} ${text}`);
      took.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - began) / 1000;
  const cpu = ((await cpuMicrosOf(target.pid)) - before) / calls;
  await agent.close();
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN;
  return { rate: calls / seconds, p50: at(0.5), p99: at(0.99), cpu };
}

/** How many commits the write-ahead log of the store gets meanwhile. Again, if a checkpoint has begun it anew. */
async function commitsOf(workspace: Workspace, act: () => Promise<void>): Promise<number> {
  for (;;) {
    const before = await readLog(workspace);
    await act();
    const after = await readLog(workspace);
    if (after.salt.equals(before.salt)) return after.commits - before.commits;
  }
}

async function readLog(workspace: Workspace): Promise<{ salt: Buffer; commits: number }> {
  const wal = await readFile(join(workspace.dir, 'data', 'isolayer.db-wal'));
  const frameBytes = 24 + wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    // Only the last page of a commit has the size of the database.
    if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return { salt, commits };
}
