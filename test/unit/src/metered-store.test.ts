import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/domain/clock.ts';
import { meteredStore } from '../../../src/metered-store.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import { HeldWal } from '../../support/held-wal.ts';
import { relayerOf } from '../../support/store.ts';

/** A store whose disk the test controls, and the reports about its writes. By the clock each write takes a second. */
async function open(folder: string) {
  const told: [outcome: string, seconds: number, failure: string | undefined][] = [];
  let wal: HeldWal | undefined;
  const bare = await openSqliteStore({
    path: join(folder, 'isolayer.db'),
    log: createLog('silent'),
    clock: systemClock,
    openWal: (path) => {
      wal = new HeldWal(path);
      return wal;
    },
  });
  if (wal === undefined) throw new Error('the log was not opened');
  let seconds = 0;
  const elapsed = () => 1000 * seconds++;
  const store = meteredStore(
    bare,
    { wrote: (outcome, seconds, failure) => void told.push([outcome, seconds, failure]) },
    { elapsed },
  );
  return { bare, store, wal, told };
}

t.test('a write is told of when it is on disk, and one that was undone as such', async (t) => {
  const { store, wal, told } = await open(t.testdir());
  t.teardown(() => store.close());
  wal.hold();
  const writing = store.write((writer) => writer.putRelayer(relayerOf()));
  await wal.asked();
  t.strictSame(told, [], 'not before');
  t.equal(store.oldestWriteMs(), 1000, 'one that waits is seen');
  wal.release();
  await writing;
  t.strictSame(told, [['kept', 2, undefined]]);
  t.equal(store.oldestWriteMs(), 0);
  t.equal((await store.read.relayer('relayer-1'))?.id, 'relayer-1');

  const refused = new Error('no');
  await t.rejects(
    store.write(async (writer) => {
      await writer.deleteRelayer('relayer-1');
      throw refused;
    }),
    refused,
  );
  t.strictSame(told.slice(1), [['undone', 1, undefined]]);
  t.equal((await store.read.relayer('relayer-1'))?.id, 'relayer-1');
});

t.test('writes under a lease are told of too', async (t) => {
  const { store, told } = await open(t.testdir());
  t.teardown(() => store.close());
  const answer = await store.leases.acquire('here');
  if (answer.kind !== 'taken') throw new Error('the lease is not free');
  const { lease } = answer;
  t.equal(await store.writeUnder(lease, async () => 5), 5);
  await store.leases.release([lease]);
  await t.rejects(store.writeUnder(lease, async () => 6));
  t.strictSame(told, [
    ['kept', 1, undefined],
    ['undone', 1, undefined],
  ]);
});

t.test('what the store could not write has failed', async (t) => {
  const { store, wal, told } = await open(t.testdir());
  t.teardown(() => store.close());
  wal.hold();
  const writing = store.write((writer) => writer.putRelayer(relayerOf()));
  await wal.asked();
  wal.fail(new Error('EIO'));
  await t.rejects(writing, { code: 'UNAVAILABLE' });
  await t.rejects(
    store.write((writer) => writer.deleteRelayer('relayer-1')),
    { code: 'UNAVAILABLE' },
    'and from then on',
  );
  t.match(told, [
    ['failed', 1, /EIO/],
    ['failed', 1, /./],
  ]);
});

t.test('all else is the store’s own', async (t) => {
  const { bare, store } = await open(t.testdir());
  for (const part of ['read', 'leases', 'buckets', 'instances', 'hints'] as const)
    t.equal(store[part], bare[part], part);
  t.ok(Math.abs((await store.now()) - Date.now()) < 60_000);
  await store.close();
  await t.rejects(
    bare.write(async () => 1),
    { code: 'UNAVAILABLE' },
    'closed with it',
  );
});
