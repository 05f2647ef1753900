import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { migrations } from '../../../../src/store/migrations.ts';
import { createSealer } from '../../../../src/store/sealing.ts';
import { openSqliteStore } from '../../../../src/store/sqlite.ts';
import { relayerOf, temporaryStore, transactionOf } from '../../../support/store.ts';

const options = { log: createLog('silent'), clock: systemClock };

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
  await t.rejects(
    store.write(async (writer) => {
      await writer.putRelayer(relayerOf());
      await delay(1);
      await writer.putRelayer(relayerOf({ id: 'late' }));
    }),
    { message: 'A write body awaited something other than its writer; it was undone' },
  );
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
