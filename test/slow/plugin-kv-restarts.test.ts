/**
 * Threat: a server is killed while its plugins hold locks and count, or a second instance uses the same database. Two
 * calls work on one value at once, a lock stays for its whole lifetime, or a repeated request counts twice.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createKvService } from '../../src/features/plugins/kv.ts';
import type { KvCaller } from '../../src/features/plugins/records/kv.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { startPostgres } from '../support/postgres.ts';
import { type AnswerBody, type RunningService, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Appends or counts under a lock of a week. With `hang`, it keeps the lock until it is told to leave. */
const PLUGIN = `
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export async function handler({ kv, params }) {
  if (params.letGo) return kv.set('letGo', true);
  if (params.read) return kv.get(params.read);
  for (let tries = 0; tries < 300; tries++) {
    const done = await kv.withLock(params.list, async () => {
      const ids = (await kv.get(params.list)) ?? [];
      if (params.note) await kv.set(params.note, params.id, { ttlSec: 60 });
      else if (!ids.includes(params.id)) await kv.set(params.list, [...ids, params.id]);
      while (params.hang && !(await kv.exists('letGo'))) await pause(20);
      if (params.hang) await kv.set('after', params.id);
      return true;
    }, { ttlSec: 604800, onBusy: 'skip' });
    if (done) return params.id;
    await pause(5 + Math.random() * 20);
  }
  throw new Error('never came to its turn');
}`;

t.test('a server that is killed in between loses no count, leaves no lock, and does a keyed call once', async (t) => {
  const workspace = await createWorkspace({
    pluginFiles: { 'append.ts': PLUGIN },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  const start = async (): Promise<RunningService> => {
    const service = await startService(workspace.env);
    t.teardown(() => service.kill());
    return service;
  };
  let service = await start();
  const ask = async (params: object, key?: string) => {
    const response = await fetch(`${service.url}/api/v1/plugins/append/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify({ params }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  const listed = async (list: string): Promise<string[]> => (await ask({ read: list })).body.data ?? [];

  const noting = { list: 'a', note: 'noted', id: 'one', hang: true };
  const counting = { list: 'b', id: 'one', hang: true };
  const dying = [ask(noting, 'noting'), ask(counting, 'counting')].map((asked) => asked.catch(() => undefined));
  const isNoted = async () => [(await ask({ read: 'noted' })).body.data, ...(await listed('b'))].join();
  t.equal(await eventually(isNoted, (text) => text === 'one,one', 60_000), 'one,one');
  const ids = Array.from({ length: 24 }, (_, index) => `id${index}`);
  const asked = ids.map(async (id) => {
    for (let tries = 0; tries < 300; tries += 1) {
      const answer = await ask({ list: 'ids', id }).catch(() => undefined);
      if (answer?.status === 200) return true;
      await delay(100);
    }
    return false;
  });
  await eventually(
    async () => (await listed('ids')).length,
    (length) => length > 0,
    60_000,
  );
  await service.kill();
  await Promise.all(dying);
  service = await start();

  await t.test('counts', async (t) => {
    t.ok((await Promise.all(asked)).every(Boolean));
    t.strictSame((await listed('ids')).toSorted(), ids.toSorted(), 'each once, none is lost');
  });

  await t.test('keyed calls', async (t) => {
    t.match(await ask({ list: 'b', id: 'two' }), { status: 200 }, 'the lock of the dead server is free');
    await ask({ list: 'c', note: 'noted', id: 'two' });
    await ask({ letGo: true });

    const again = await ask(noting, 'noting');
    t.match(again, { status: 200, body: { data: 'one' } }, 'the rerun has the lock again and goes on');
    t.equal((await ask({ read: 'after' })).body.data, 'one');
    t.equal((await ask({ read: 'noted' })).body.data, 'two', 'what it did before it did not do again');
    t.strictSame((await ask(noting, 'noting')).body, again.body, 'and from now on it is answered');

    // The plugin hears the value that its first run read, and not the one that this run changed.
    t.match(await ask(counting, 'counting'), { status: 200 });
    t.strictSame(await listed('b'), ['one', 'two'], 'nothing counts twice');
  });
});

t.test('two instances on PostgreSQL exclude each other', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const log = createLog('silent');
  const stores = await Promise.all([openPostgresStore({ url, log }), openPostgresStore({ url, log })]);
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  const [one, two] = stores.map((store) => createKvService({ store, newId: randomUUID }));
  if (one === undefined || two === undefined) throw new Error('two were opened');
  const { signal } = new AbortController();
  const caller: KvCaller = { pluginId: 'p', quota: { keys: 60, bytes: 10_000, valueBytes: 100 }, locks: [] };

  await t.test('30 increments, half on each, under one lock', async (t) => {
    const count = async (kv: typeof one) => {
      for (let tries = 0; tries < 2000; tries += 1) {
        const lock = await kv.lock(caller, 'lock', 60_000, undefined, signal);
        if (lock === null) {
          await delay(Math.random() * 20);
          continue;
        }
        const value = Number((await kv.get('p', 'count')) ?? 0);
        await kv.set({ ...caller, locks: [lock] }, 'count', String(value + 1));
        await kv.unlock('p', lock);
        return true;
      }
      return false;
    };
    const ended = await Promise.all(Array.from({ length: 15 }, () => [count(one), count(two)]).flat());
    t.ok(ended.every(Boolean));
    t.equal(await one.get('p', 'count'), '30');
  });

  await t.test('who was overtaken does not write, and does not give back what is another’s', async (t) => {
    const late = await one.lock(caller, 'late', 50, undefined, signal);
    if (late === null) throw new Error('it was free');
    const taken = await eventually(
      () => two.lock(caller, 'late', 60_000, undefined, signal),
      (lock) => lock !== null,
    );
    t.ok((taken?.fence ?? 0) > late.fence);
    await t.rejects(one.set({ ...caller, locks: [late] }, 'k', '1'), /lock lost/);
    t.equal(await one.unlock('p', late), false);
    t.equal(await one.lock(caller, 'late', 50, undefined, signal), null);
  });

  await t.test('a quota holds over both', async (t) => {
    const results = await Promise.allSettled(
      Array.from({ length: 120 }, (_, n) => (n % 2 === 0 ? one : two).set(caller, `key${n}`, '1')),
    );
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    t.equal(kept, 59, 'with the count from before');
    t.strictSame((await stores[0]?.read.kvUsage('p'))?.keys, 60);
    t.ok(results.every((result) => result.status === 'fulfilled' || /limits\.kv_keys/.test(String(result.reason))));
  });
});
