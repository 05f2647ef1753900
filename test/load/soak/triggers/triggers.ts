import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRecord } from '../../../../src/features/calls/record.ts';
import { FIRST_PLACE, type TransactionEvent } from '../../../../src/features/transactions/records/transaction-event.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { openPostgresStore } from '../../../../src/store/postgres/postgres.ts';
import { createSealer } from '../../../../src/store/sealing.ts';
import type { Store } from '../../../../src/store/store.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { seededRandom } from '../../../support/seeded.ts';
import { transactionOf } from '../../../support/store.ts';
import { createWorkspace } from '../../../support/workspace.ts';
import { Cluster } from '../payments/cluster.ts';
import { startTroubles } from '../payments/troubles.ts';
import { describeCounts, type Line } from '../report.ts';

export interface TriggersSoakOptions {
  /** How many triggers fire each second. Half of them miss no moment. */
  triggers: number;
  /** For how long servers are killed. */
  seconds: number;
  /** Events of transactions, each of which makes a call. */
  events: number;
  seed: number;
  /** How long the last calls may take to end. */
  patienceMs: number;
  say(text: string): void;
}

export interface TriggersSoakResult {
  lines: readonly Line[];
  /** The faults found, one sentence each; empty if there were none. */
  faults: string[];
  output: string;
}

const INSTANCES = 3;
const LIFE_MS = [3_000, 9_000] as const;
/** The statuses of each transaction, one after the other: so many events. */
const STATUSES = ['pending', 'sent', 'failed'] as const;
/** Transactions of one write. */
const CHUNK = 25;
/** The oldest of 100 missed moments of a trigger for each second, less what its commit takes. */
const OLDEST_MISSED_MS = 98_000;
const SHOWN_FAULTS = 20;
const HANDLER = `export const handler = async ({ trigger }) => trigger.name;`;

/**
 * Triggers of real servers on one database, for each second and for events of transactions, while servers are killed and
 * frozen and the database crashes. There must be one call for each moment and each event.
 */
export async function soakTriggers(given: TriggersSoakOptions): Promise<TriggersSoakResult> {
  // Each transaction has as many events as any.
  const options = { ...given, events: Math.ceil(given.events / STATUSES.length) * STATUSES.length };
  const every = (name: string, more: object = {}) =>
    Array.from({ length: options.triggers / 2 }, (_, index) => ({ name: `${name}${index}`, every: '1s', ...more }));
  const workspace = await createWorkspace({
    plugins: [
      { id: 'clock', path: 'clock.ts', triggers: [...every('latest'), ...every('all', { missed: 'all' })] },
      { id: 'told', path: 'told.ts', triggers: [{ name: 'told', on: 'transaction', status: STATUSES }] },
    ],
    pluginFiles: { 'clock.ts': HANDLER, 'told.ts': HANDLER },
  });
  const postgres = await startPostgres({ durable: true });
  const url = await postgres.createDatabase();
  const key = Buffer.alloc(32, 7);
  const shared = {
    ...workspace.env,
    HOST: '127.0.0.1',
    API_KEY: 'one-key-for-every-instance-of-the-soak',
    STORAGE_ENCRYPTION_KEY: key.toString('base64'),
    DATABASE_URL: url,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(workspace.dir, 'compiled'),
  };
  const cluster = new Cluster({
    instances: INSTANCES,
    postgres,
    environmentOf: (instance) => ({ ...shared, DATA_DIR: join(workspace.dir, `data-${instance}`) }),
  });
  const store = await openPostgresStore({ url, log: createLog('silent'), sealer: createSealer([key], randomBytes) });
  try {
    await cluster.startMissing();
    const troubles = startTroubles({
      cluster,
      postgres: { server: postgres, url },
      random: seededRandom(options.seed, 'troubles'),
    });
    const began = performance.now();
    const sending = send(store, options);
    try {
      await killOnTheWay(cluster, options);
    } finally {
      await troubles.stop();
    }
    await sending;
    const end = await store.now();
    await cluster.startMissing();
    options.say('no more kills; waiting for the last calls');
    const isDone = await untilDone(store, end, options);
    const seconds = (performance.now() - began) / 1_000;
    await cluster.close();
    const { lines, faults } = await judge(store, options);
    const { atRandom, byThemselves } = cluster.deaths;
    faults.push(...byThemselves.map((words) => `a process ended by itself: ${words}`));
    if (!isDone) faults.push('calls were still open');
    if (atRandom === 0) faults.push('nothing was killed');
    return {
      lines: [
        ['seed', options.seed],
        ['kills', atRandom],
        ['other trouble', describeCounts(troubles.counts)],
        ...lines,
        ['seconds', seconds.toFixed(0)],
      ],
      faults: faults.slice(0, SHOWN_FAULTS),
      output: cluster.output,
    };
  } finally {
    await cluster.close();
    await store.close();
    await postgres.stop();
    await workspace.remove();
  }
}

async function killOnTheWay(cluster: Cluster, { seconds, seed }: TriggersSoakOptions): Promise<void> {
  const random = seededRandom(seed, 'kills');
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    const life = LIFE_MS[0] + random() * (LIFE_MS[1] - LIFE_MS[0]);
    if (performance.now() + life > end) break;
    await sleep(life);
    await cluster.killOne(random());
    await cluster.startMissing();
  }
  await sleep(Math.max(0, end - performance.now()));
}

/** Stores transactions that have ended. Those of a write that fails, because the database is down, are stored again. */
async function send(store: Store, { events, seconds }: TriggersSoakOptions): Promise<void> {
  const ids = Array.from({ length: events / STATUSES.length }, (_, index) => `t${index}`);
  const pauseMs = (seconds * 1_000 * CHUNK) / ids.length;
  for (let from = 0; from < ids.length; ) {
    const began = performance.now();
    const chunk = ids.slice(from, from + CHUNK);
    const isStored = await store
      .write(async (writer) => {
        for (const id of chunk) {
          // The answer to the write before may have been lost.
          if ((await writer.transaction('relayer-1', id)) !== undefined) continue;
          await writer.insertTransaction(transactionOf({ id }));
          await writer.updateTransaction(id, 'pending', { status: 'sent', hash: id });
          await writer.updateTransaction(id, 'sent', { status: 'failed' });
        }
        return true;
      })
      .catch(() => false);
    if (isStored) from += CHUNK;
    await sleep(Math.max(isStored ? 0 : 100, began + pauseMs - performance.now()));
  }
}

/** Waits until every moment up to `end` and every event is decided, and no call is open. What is done is paused. */
async function untilDone(
  store: Store,
  end: number,
  { patienceMs, events, say }: TriggersSoakOptions,
): Promise<boolean> {
  const until = performance.now() + patienceMs;
  let said = performance.now();
  while (performance.now() < until) {
    const active = (await store.read.triggers()).filter(({ paused }) => paused === null);
    const done = active.filter(({ cursor, fired }) => (cursor.kind === 'moment' ? cursor.at >= end : fired >= events));
    await store.write(async (writer) => {
      for (const { pluginId, name } of done) {
        const state = await writer.trigger(pluginId, name);
        if (state !== undefined) await writer.putTrigger({ ...state, paused: 'person' });
      }
    });
    const open = await store.read.openTriggerCalls();
    if (done.length === active.length && open.length === 0) return true;
    if (performance.now() - said > 20_000) {
      said = performance.now();
      const told = active.find(({ name }) => name === 'told')?.fired ?? events;
      say(`${told} of ${events} events called for, ${active.length - done.length} triggers behind`);
    }
    await sleep(250);
  }
  return false;
}

async function judge(store: Store, { triggers, events: wanted }: TriggersSoakOptions) {
  const faults: string[] = [];
  const [clock, told] = [await callsOf(store, 'clock'), await callsOf(store, 'told')];
  const byTrigger = Map.groupBy(clock, ({ keyId }) => keyId.split('/')[1] ?? '');
  const states = (await store.read.triggers()).filter(({ pluginId }) => pluginId === 'clock');
  if (states.length !== triggers) faults.push(`${states.length} triggers are known`);
  let left = 0;
  for (const { name, fired, skipped, cursor, since } of states) {
    if (cursor.kind !== 'moment') continue;
    const made = (byTrigger.get(name) ?? []).map(({ key }) => Date.parse(key));
    const passed = Math.floor(cursor.at / 1000) - Math.floor(since / 1000);
    const isEach =
      new Set(made).size === made.length && made.every((at) => at % 1000 === 0 && at > since && at <= cursor.at);
    const isAll = !name.startsWith('all') || isWithoutGaps(since, byTrigger.get(name) ?? []);
    left += skipped;
    if (isEach && isAll && made.length === fired && fired + skipped === passed) continue;
    faults.push(`${name}: ${made.length} calls, ${fired} fired, ${skipped} skipped, ${passed} moments`);
  }
  const events = await eventsOf(store);
  const keys = new Set(told.map(({ key }) => key));
  const missing = events.filter(({ transactionId, position }) => !keys.has(`${transactionId}/${position}`));
  if (events.length < wanted) faults.push(`only ${events.length} events`);
  if (missing.length > 0 || told.length !== events.length || keys.size !== told.length)
    faults.push(`${events.length} events, ${told.length} calls, ${missing.length} events without one`);
  for (const [id, calls] of Map.groupBy(told, ({ key }) => key.split('/')[0] ?? '')) {
    const sorted = calls.toSorted((a, b) => Number(a.key.split('/')[1]) - Number(b.key.split('/')[1]));
    const isOverlapping = sorted.some(
      ({ createdAt }, at) => at > 0 && createdAt < (sorted[at - 1]?.endedAt ?? Infinity),
    );
    if (isOverlapping) faults.push(`${id}: its calls are out of order`);
  }
  const others = [...clock, ...told].filter(({ state }) => state !== 'returned');
  faults.push(...others.map(({ keyId, key, state, ending }) => `${keyId} ${key} ${state}: ${JSON.stringify(ending)}`));
  const lines: Line[] = [
    ['moments called for', clock.length],
    ['moments left out', left],
    ['events called for', told.length],
    [
      'runs',
      describeCounts(
        new Map(
          [...Map.groupBy([...clock, ...told], ({ tries }) => `${tries}`)].map(([tries, of]) => [tries, of.length]),
        ),
      ),
    ],
  ];
  return { lines, faults };
}

/** Whether `"missed": "all"` left out only what was older than the newest 100 moments, when it called for the next. */
function isWithoutGaps(since: number, calls: readonly CallRecord[]): boolean {
  const made = calls.map(({ key, createdAt }) => ({ at: Date.parse(key), createdAt })).toSorted((a, b) => a.at - b.at);
  return made.every(({ at, createdAt }, index) => {
    const before = made[index - 1]?.at ?? Math.floor(since / 1000) * 1000;
    return at - before === 1000 || createdAt - at >= OLDEST_MISSED_MS;
  });
}

async function callsOf(store: Store, plugin: string): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = await store.read.calls(plugin, { page, perPage: 10_000 }, {});
    calls.push(...items);
    if (items.length < 10_000) return calls;
  }
}

async function eventsOf(store: Store): Promise<TransactionEvent[]> {
  const all: TransactionEvent[] = [];
  for (;;) {
    const events = await store.read.transactionEvents(all.at(-1) ?? FIRST_PLACE, 1_000);
    all.push(...events);
    if (events.length === 0) return all;
  }
}
