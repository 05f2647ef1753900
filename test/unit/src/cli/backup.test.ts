import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { settleUnsignedTransactions } from '../../../../src/cli/backup.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { RollbackDetector } from '../../../../src/engine/rollback-detector.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { backupSqlite, checkBackup } from '../../../../src/store/backup.ts';
import { createSealer } from '../../../../src/store/sealing.ts';
import { openFolderMemory } from '../../../../src/store/sqlite/folder-memory.ts';
import { lockDataDir } from '../../../../src/store/sqlite/lock.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../../../src/store/store.ts';
import { runTyped } from '../../../support/command.ts';
import { relayerOf, storeFor, temporaryStore, transactionOf } from '../../../support/store.ts';

t.test('copies the database of DATA_DIR while it is open, and says what else to keep', async (t) => {
  const { path, remove } = await temporaryStore();
  t.teardown(remove);
  const cwd = dirname(dirname(path));
  const env = { DATA_DIR: basename(dirname(path)) };
  const file = join(dirname(path), 'copy.db');
  t.match(await runTyped(cwd, ['backup', file], env), { code: 1, complained: /There is no storage key/ });
  const key = Buffer.alloc(32, 5);
  writeFileSync(join(dirname(path), 'storage-key'), key.toString('base64'), { mode: 0o600 });
  const { code, said } = await runTyped(cwd, ['backup', file], env);
  t.equal(code, 0);
  t.ok(existsSync(file));
  t.equal(await checkBackup(file, [Buffer.alloc(32), key]), 'authentic');
  t.match(said, file);
  t.match(said, join(dirname(path), 'storage-key'));
  const again = await runTyped(cwd, ['backup', file], env);
  t.equal(again.code, 1);
  t.match(again.complained, /exists; a backup never overwrites/);
});

t.test('without a database, or with PostgreSQL, it says so', async (t) => {
  const cwd = t.testdir({});
  t.match(await runTyped(cwd, ['backup', 'a.db']), { code: 1, complained: /There is no database in .*data$/ });
  const env = { DATABASE_URL: 'postgres://localhost/x', STORAGE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
  t.match(await runTyped(cwd, ['backup', 'a.db'], env), { code: 1, complained: /pg_dump/ });
  t.notOk(existsSync(join(cwd, 'data')));
});

t.test('restore', async (t) => {
  const KEY = Buffer.alloc(32, 3);
  const env = { STORAGE_ENCRYPTION_KEY: KEY.toString('base64') };
  const log = createLog('silent');

  /** Opens the database of the folder `data` as a service does, and closes it. */
  async function use<T>(cwd: string, body: (store: Store) => Promise<T>): Promise<T> {
    const sealer = createSealer([KEY], () => new Uint8Array(12));
    const path = join(cwd, 'data', 'isolayer.db');
    const store = await openSqliteStore({ path, log, clock: systemClock, sealer });
    try {
      const memory = openFolderMemory(join(cwd, 'data'));
      const keeper = await RollbackDetector.open({
        store,
        memory,
        newId: () => 'service',
        log,
        onRollback: () => undefined,
      });
      const result = await body(store);
      await keeper.close();
      return result;
    } finally {
      await store.close();
    }
  }

  /** A folder with `backup.db`, from a service with one transaction. The service's own data are moved to `was`. */
  async function backupIn(t: Test, status: 'pending' | 'confirmed') {
    const cwd = t.testdir({ data: {} });
    await use(cwd, (store) =>
      store.write(async (writer) => {
        await writer.putRelayer(relayerOf({ customRpcUrls: [{ url: 'https://node.test', weight: 1 }] }));
        await writer.insertTransaction(transactionOf({ id: 'a', status }));
      }),
    );
    await backupSqlite(join(cwd, 'data', 'isolayer.db'), join(cwd, 'backup.db'), KEY);
    renameSync(join(cwd, 'data'), join(cwd, 'was'));
    mkdirSync(join(cwd, 'data'));
    const data = () => readdirSync(join(cwd, 'data')).filter((name) => name.startsWith('isolayer'));
    return {
      cwd,
      data,
      statusOf: () => use(cwd, async ({ read }) => (await read.transaction('relayer-1', 'a'))?.status),
    };
  }

  t.test('into an empty folder, then again only with --replace, which keeps what was there', async (t) => {
    const { cwd, data, statusOf } = await backupIn(t, 'confirmed');
    t.match(await runTyped(cwd, ['restore', 'backup.db'], env), { code: 0, said: /Restored into .*data/ });
    t.strictSame(data(), ['isolayer.db']);
    t.equal(await statusOf(), 'confirmed');
    t.match(await runTyped(cwd, ['restore', 'backup.db'], env), { code: 1, complained: /--replace/ });
    const { code, said } = await runTyped(cwd, ['restore', 'backup.db', '--replace'], env);
    t.equal(code, 0);
    t.match(said, 'isolayer.db.replaced-1970-01-01T00-00-00-000Z');
    t.strictSame(data(), ['isolayer.db', 'isolayer.db.replaced-1970-01-01T00-00-00-000Z']);
  });

  t.test('never beside a server', async (t) => {
    const { cwd, data } = await backupIn(t, 'confirmed');
    const lock = lockDataDir(join(cwd, 'data'));
    t.teardown(() => lock.release());
    t.match(await runTyped(cwd, ['restore', 'backup.db'], env), { code: 1, complained: /in use by another Isolayer/ });
    t.strictSame(data(), []);
  });

  t.test(
    'unsigned transactions make it ask what happened since; then the service starts and does not ask',
    async (t) => {
      for (const [answer, status] of [
        ['--fail-unsigned', 'failed'],
        ['--send-unsigned', 'pending'],
        ['--compare-unsigned', 'pending'],
      ] as const) {
        const { cwd, data, statusOf } = await backupIn(t, 'pending');
        const { code, complained } = await runTyped(cwd, ['restore', 'backup.db'], env);
        t.equal(code, 1);
        t.match(complained, /holds 1 transactions/);
        t.match(complained, /--compare-unsigned .*\n.*--fail-unsigned .*\n.*--send-unsigned/);
        t.strictSame(data(), []);
        t.match(await runTyped(cwd, ['restore', 'backup.db', '--send-unsigned', '--fail-unsigned'], env), { code: 1 });
        t.match(await runTyped(cwd, ['restore', 'backup.db', answer], env), { code: 0 });
        t.strictSame(data(), ['isolayer.db']);
        t.equal(await statusOf(), status);
      }
    },
  );

  t.test('without a file it answers for a database that was put there by hand', async (t) => {
    const { cwd, statusOf } = await backupIn(t, 'pending');
    t.match(await runTyped(cwd, ['restore'], env), { code: 1, complained: /There is no database in .*data/ });
    renameSync(join(cwd, 'backup.db'), join(cwd, 'data', 'isolayer.db'));
    await t.rejects(statusOf(), { name: 'WentBack' });
    t.match(await runTyped(cwd, ['restore'], env), { code: 1, complained: /--send-unsigned/ });
    await t.rejects(statusOf(), { name: 'WentBack' });
    t.match(await runTyped(cwd, ['restore', '--fail-unsigned'], env), { code: 0, said: /Answered/ });
    t.equal(await statusOf(), 'failed');
  });

  t.test('without the storage key that belongs to it nothing is restored, and none is made', async (t) => {
    const { cwd } = await backupIn(t, 'confirmed');
    t.match(await runTyped(cwd, ['restore', 'backup.db']), {
      code: 1,
      complained: /no storage key in .*bring the one/,
    });
    const other = { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') };
    t.match(await runTyped(cwd, ['restore', 'backup.db'], other), { code: 1, complained: /another storage key/ });
    t.strictSame(
      readdirSync(join(cwd, 'data')).filter((name) => !name.startsWith('lock.db')),
      [],
    );
  });

  t.test('no file, or a file for PostgreSQL', async (t) => {
    const cwd = t.testdir({});
    t.match(await runTyped(cwd, ['restore', 'nothing.db'], env), { code: 1, complained: /There is no file/ });
    const postgres = { ...env, DATABASE_URL: 'postgres://localhost/x' };
    t.match(await runTyped(cwd, ['restore', 'x'], postgres), { code: 1, complained: /pg_restore[^]*without a file/ });
  });

  t.test('a backup that somebody has changed is not restored', async (t) => {
    // Threat: who can write a backup plants an API key in it, and owns the service after the restore.
    const restored = async (cwd: string, ...flags: string[]) =>
      await runTyped(cwd, ['restore', 'backup.db', ...flags], env);
    const plant = (cwd: string, statement: string) => {
      const database = new DatabaseSync(join(cwd, 'backup.db'));
      database.exec(`pragma journal_mode = delete; ${statement}`);
      database.close();
    };
    const key = `insert into api_keys (id, created_at, name, hash, permissions, allowed_origins)
    values ('planted', 0, 'planted', 'hash', '["*"]', '["*"]')`;
    const trigger = `create trigger planted after insert on relayers begin ${key}; end`;
    const named = `drop trigger transactions_deleted; ${trigger.replace('planted', 'transactions_deleted')}`;
    for (const statement of [key, trigger, named, `update relayers set name = 'other'`]) {
      const { cwd, data } = await backupIn(t, 'confirmed');
      plant(cwd, statement);
      for (const flags of [[], ['--unauthenticated']]) {
        t.match(await restored(cwd, ...flags), { code: 1, complained: /was changed after it was made/ }, statement);
      }
      t.strictSame(data(), []);
      // He cuts off the code.
      truncateSync(join(cwd, 'backup.db'), readFileSync(join(cwd, 'backup.db')).length - 48);
      t.match(await restored(cwd), { code: 1, complained: /has no authentication code.*--unauthenticated/ }, statement);
      const { code, complained } = await restored(cwd, '--unauthenticated');
      const [, foreign] = /create trigger (\w+)/.exec(statement) ?? [];
      if (foreign !== undefined) t.match([code, complained], [1, `has a trigger or view that is not ours: ${foreign}`]);
      else t.equal(code, 0, 'who asks for it has it');
    }
    const { cwd } = await backupIn(t, 'confirmed');
    appendFileSync(join(cwd, 'backup.db'), 'x');
    t.match(await restored(cwd), { code: 1, complained: /has no authentication code/ });
    truncateSync(join(cwd, 'backup.db'), readFileSync(join(cwd, 'backup.db')).length - 1);
    const other = { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 4).toString('base64') };
    t.match(await runTyped(cwd, ['restore', 'backup.db'], other), { code: 1, complained: /another storage key/ });
    const rotated = { STORAGE_ENCRYPTION_KEY: `${other.STORAGE_ENCRYPTION_KEY},${env.STORAGE_ENCRYPTION_KEY}` };
    t.match(await runTyped(cwd, ['restore', 'backup.db'], rotated), { code: 0 });

    const { cwd: moved } = await backupIn(t, 'confirmed');
    truncateSync(join(moved, 'backup.db'), readFileSync(join(moved, 'backup.db')).length - 48);
    plant(moved, `update relayers set custom_rpc_urls = '1.0000000000000000.moved-from-elsewhere'`);
    t.match(
      await restored(moved, '--unauthenticated'),
      { code: 0, complained: /record relayer-1 of table relayers is damaged: the relayer calls no endpoint/ },
      'each secret is opened',
    );
  });
});

t.test('answer unsigned', async (t) => {
  async function storeWithOne(t: Test): Promise<Store> {
    const store = await storeFor(t);
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf());
      await writer.insertTransaction(transactionOf({ id: 'a', status: 'pending' }));
      await writer.putHistory({ epochs: ['first'], place: null });
    });
    return store;
  }

  t.test('without an answer nothing changes; with one the database begins a new epoch', async (t) => {
    const store = await storeWithOne(t);
    await t.rejects(settleUnsignedTransactions(store, { answer: undefined, folder: 'f' }), {
      name: 'UnsignedTransactions',
    });
    t.strictSame((await store.read.history()).epochs, ['first']);
    const known = await settleUnsignedTransactions(store, { answer: 'send', folder: 'f' });
    t.strictSame((await store.read.history()).epochs, ['first', known.epoch]);
    t.equal(await store.read.unsignedCount(), 1);
    await settleUnsignedTransactions(store, { answer: 'fail', folder: 'f' });
    t.equal(await store.read.unsignedCount(), 0);
    await settleUnsignedTransactions(store, { answer: undefined, folder: 'f' });
  });

  t.test('a database that several share is left alone while one of them uses it', async (t) => {
    const store = { ...(await storeWithOne(t)), buckets: { take: async () => 0 } } as unknown as Store;
    const markAt = (at: number) => store.write((writer) => writer.putMark('other', { count: 1, at }));
    await markAt((await store.now()) - 1000);
    await t.rejects(settleUnsignedTransactions(store, { answer: 'fail', folder: 'f' }), {
      message: /uses this database, .* in 1\d s/,
    });
    t.equal(await store.read.unsignedCount(), 1);
    await markAt((await store.now()) - 60_000);
    await settleUnsignedTransactions(store, { answer: 'fail', folder: 'f' });
    t.equal(await store.read.unsignedCount(), 0);
  });
});
