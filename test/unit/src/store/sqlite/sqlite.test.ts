import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { migrations } from '../../../../../src/store/migrations/migrations.ts';
import { createSealer } from '../../../../../src/store/sealing.ts';
import { openSqliteStore, ProcessLeases } from '../../../../../src/store/sqlite/sqlite.ts';
import { HeldWal } from '../../../../support/held-wal.ts';
import { attemptOf, relayerOf, temporaryStore, transactionOf } from '../../../../support/store.ts';

const options = { log: createLog('silent'), clock: systemClock };

/** A store whose flushes the test can hold. */
async function openHeld(t: Test) {
  const path = join(t.testdir(), 'isolayer.db');
  const wals: HeldWal[] = [];
  const openWal = (of: string) => {
    const wal = new HeldWal(of);
    wals.push(wal);
    return wal;
  };
  const store = await openSqliteStore({ path, ...options, openWal });
  const [wal] = wals;
  if (wal === undefined) throw new Error('the store opened no log');
  t.teardown(async () => {
    wal.release();
    await store.close();
  });
  return { store, wal, path };
}

t.test('what was written is there after a reopening', async (t) => {
  const path = join(t.testdir(), 'isolayer.db');
  const first = await openSqliteStore({ path, ...options });
  await first.write((writer) => writer.putRelayer(relayerOf()));
  await first.close();
  const second = await openSqliteStore({ path, ...options });
  t.strictSame(await second.read.relayer('relayer-1'), relayerOf());
  await second.close();
});

t.test('the file is durable, checked and for its owner only', async (t) => {
  const { path, remove } = await temporaryStore();
  t.teardown(remove);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) t.equal(statSync(file).mode & 0o777, 0o600, file);
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());
  t.equal(database.prepare('pragma journal_mode').get()?.['journal_mode'], 'wal');
});

t.test('a long body lets reads come between its statements, and they see nothing of it', async (t) => {
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  const MAX = 100_000;
  let isWriting = true;
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isWriting) return;
    seen.push((await store.read.allRelayers()).length);
    await read();
  };
  const reading = read();
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf());
    for (let index = 0; seen.length < 3 && index < MAX; index += 1) {
      await writer.insertTransaction(transactionOf({ id: `t${index}` }));
    }
    isWriting = false;
  });
  await reading;
  t.same(seen.slice(0, 3), [0, 0, 0]);
  t.equal((await store.read.allRelayers()).length, 1);
});

t.test('a body whose lease another took meanwhile is undone', async (t) => {
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  const answer = await store.leases.acquire('lane');
  if (answer.kind !== 'taken') throw new Error('the lease is free');
  const written = store.writeUnder(answer.lease, async (writer) => {
    await writer.putRelayer(relayerOf());
    await store.leases.acquire('lane');
  });
  await t.rejects(written, { name: 'LeaseLost' });
  t.same(await store.read.allRelayers(), []);
});

t.test('a read does not wait for a write under way, and does not see it', async (t) => {
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  const { promise: inside, resolve: isInside } = Promise.withResolvers<void>();
  const reading = inside.then(() => store.read.allRelayers());
  let seen: unknown;
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf());
    isInside();
    while (seen === undefined) {
      void reading.then((relayers) => {
        seen = relayers;
      });
      await writer.allRelayers();
    }
  });
  t.strictSame(seen, []);
  t.equal((await store.read.allRelayers()).length, 1);
});

t.test('a body that awaits the network is undone, and says why', async (t) => {
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  const network = Promise.withResolvers<void>();
  await t.rejects(
    store.write(async (writer) => {
      await writer.putRelayer(relayerOf());
      await network.promise;
      await writer.putRelayer(relayerOf({ id: 'late' }));
    }),
    { message: 'A write body awaited something other than its writer; it was undone' },
  );
  network.resolve();
  t.strictSame(await store.read.allRelayers(), []);
});

t.test('the loop keeps turning under thousands of queued writes', async (t) => {
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: 4000 }, () => store.write((writer) => writer.insertTransaction(transactionOf()))),
  );
  counting = false;
  t.ok(turns >= 20, `${turns} turns`);
  t.equal((await store.read.transactions('relayer-1', { page: 1, perPage: 1 })).total, 4000);
});

t.test('a file that is no database, or of a newer version, is refused and left alone', async (t) => {
  const dir = t.testdir({ 'text.db': 'this is not a database '.repeat(200) });
  await t.rejects(openSqliteStore({ path: join(dir, 'text.db'), ...options }), {
    message: `${join(dir, 'text.db')} cannot be opened as the service's database`,
  });

  const path = join(dir, 'newer.db');
  await (await openSqliteStore({ path, ...options })).close();
  const database = new DatabaseSync(path);
  database.exec(`insert into migrations values (${migrations.length + 1}, 'from the future', 0)`);
  database.close();
  await t.rejects(openSqliteStore({ path, ...options }), { message: /newer version/ });

  const damaged = join(dir, 'damaged.db');
  await (await openSqliteStore({ path: damaged, ...options })).close();
  writeFileSync(damaged, Buffer.alloc(8192, 7), { flag: 'r+' });
  await t.rejects(openSqliteStore({ path: damaged, ...options }), { message: /cannot be opened/ });
});

t.test('a store sealed with another key is not opened', async (t) => {
  const path = join(t.testdir(), 'isolayer.db');
  const sealed = (key: Uint8Array) => openSqliteStore({ path, ...options, sealer: createSealer([key], randomBytes) });
  const key = randomBytes(32);
  await (await sealed(key)).close();
  await t.rejects(sealed(randomBytes(32)), { message: /STORAGE_ENCRYPTION_KEY/ });
  await (await sealed(key)).close();
});

t.test('what is not on disk is neither reported nor read; then it is both', async (t) => {
  const { store, wal } = await openHeld(t);
  wal.hold();
  const order: string[] = [];
  const first = store.write((writer) => writer.putRelayer(relayerOf())).then(() => order.push('first'));
  const failed = store
    .write(async (writer) => {
      // This body has read data that is not on disk yet, so its failure is not reported before the flush.
      if ((await writer.allRelayers()).length === 1) throw new Error('there is one already');
    })
    .catch(() => order.push('failed'));
  await wal.asked();
  const later = store.write((writer) => writer.allRelayers());
  t.strictSame([order, await store.read.allRelayers()], [[], []]);
  wal.pass();
  await Promise.all([first, failed]);
  t.strictSame(order, ['first', 'failed']);
  t.equal((await store.read.allRelayers()).length, 1);
  t.equal((await later).length, 1, 'who changes nothing waits for no flush');
  t.ok((await store.now()) > 0);
});

t.test('a disk that fails ends all writing until a restart, and the start keeps what the log has', async (t) => {
  const { store, wal, path } = await openHeld(t);
  await store.write((writer) => writer.putRelayer(relayerOf()));
  wal.hold();
  const broken = store.write((writer) => writer.putRelayer(relayerOf({ id: 'second' })));
  const heard = t.rejects(broken, { code: 'UNAVAILABLE', message: /whether it is kept shows after a restart/ });
  await wal.asked();
  const waiting = store.write((writer) => writer.putRelayer(relayerOf({ id: 'third' })));
  const heardToo = t.rejects(waiting, { code: 'UNAVAILABLE', message: /nothing is written until/ });
  wal.fail(new Error('EIO'));
  await Promise.all([heard, heardToo]);
  wal.release();
  await t.rejects(
    store.write((writer) => writer.allRelayers()),
    { code: 'UNAVAILABLE', message: /nothing is written until/ },
  );
  await t.rejects(store.now(), { code: 'UNAVAILABLE' }, 'who asks how it is hears of it');
  t.strictSame(
    (await store.read.allRelayers()).map(({ id }) => id),
    ['relayer-1'],
    'what was reported can be read',
  );
  const { size } = statSync(`${path}-wal`);
  await store.close();
  await store.close();
  t.equal(statSync(`${path}-wal`).size, size, 'the log is left to the start');
  const again = await openSqliteStore({ path, ...options });
  t.strictSame((await again.read.allRelayers()).map(({ id }) => id).sort(), ['relayer-1', 'second']);
  await again.close();
});

t.test('the file alone has everything after a close, and no log is left', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'isolayer.db');
  const store = await openSqliteStore({ path, ...options });
  const count = 1500;
  await Promise.all(
    Array.from({ length: count }, () =>
      store.write(async (writer) => {
        const transaction = transactionOf();
        await writer.insertTransaction(transaction);
        await writer.insertAttempt(attemptOf(transaction));
      }),
    ),
  );
  await store.close();
  t.strictSame(readdirSync(dir), ['isolayer.db']);
  copyFileSync(path, join(dir, 'copy.db'));
  const copy = await openSqliteStore({ path: join(dir, 'copy.db'), ...options });
  t.equal((await copy.read.transactions('relayer-1', { page: 1, perPage: 1 })).total, count);
  await copy.close();
});

t.test('what a killed process has left in the log lies in the file before anybody reads', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'isolayer.db');
  const store = await openSqliteStore({ path, ...options });
  await store.write((writer) => writer.putRelayer(relayerOf()));
  const left = join(dir, 'left.db');
  for (const side of ['', '-wal']) copyFileSync(`${path}${side}`, `${left}${side}`);
  await store.close();

  const next = await openSqliteStore({ path: left, ...options });
  const bare = join(dir, 'bare.db');
  copyFileSync(left, bare);
  t.equal((await next.read.allRelayers()).length, 1);
  await next.close();
  const fromFile = await openSqliteStore({ path: bare, ...options });
  t.equal((await fromFile.read.allRelayers()).length, 1);
  await fromFile.close();
});

t.test('a store that cannot be opened leaves nothing open', async (t) => {
  const path = join(t.testdir(), 'isolayer.db');
  const openWal = () => {
    throw new Error('no descriptor is left');
  };
  await t.rejects(openSqliteStore({ path, ...options, openWal }), { message: 'no descriptor is left' });
  t.equal(existsSync(`${path}-wal`), false, 'the last connection that closes takes the log away');
  await (await openSqliteStore({ path, ...options })).close();
});

t.test('always free, never over', async (t) => {
  const leases = new ProcessLeases();
  t.equal(leases.lastsMs, Number.POSITIVE_INFINITY);
  const first = await leases.acquire('lane');
  t.strictSame(first, { kind: 'taken', lease: { name: 'lane', token: 1 } });
  t.strictSame(await leases.acquire('other'), { kind: 'taken', lease: { name: 'other', token: 2 } });
  leases.assertHeld({ name: 'lane', token: 1 });
  t.throws(() => leases.assertHeld({ name: 'lane', token: 2 }), { name: 'LeaseLost' });
});
