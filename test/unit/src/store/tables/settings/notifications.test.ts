/**
 * A notification's signing key and URL are sealed in their row, are readable nowhere else, and open in no other row.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../../../src/domain/clock.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import { backupSqlite } from '../../../../../../src/store/backup.ts';
import { createSealer, type Sealer } from '../../../../../../src/store/sealing.ts';
import { openSqliteStore } from '../../../../../../src/store/sqlite/sqlite.ts';
import { notificationOf, storeFor, temporaryStore } from '../../../../../support/store.ts';
import { notificationsContract } from '../../../../../support/store-contract/notifications.ts';

const KEY = 'a signing key that nobody may see';
const oldKey = randomBytes(32);
const newKey = randomBytes(32);

notificationsContract(t, storeFor);

function open(path: string, sealer?: Sealer) {
  return openSqliteStore({
    path,
    log: createLog('silent'),
    clock: systemClock,
    ...(sealer === undefined ? {} : { sealer }),
  });
}

async function sealedDatabase(t: Test): Promise<string> {
  const path = `${t.testdir()}/store.db`;
  const store = await open(path, createSealer([oldKey], randomBytes));
  await store.write(async (writer) => {
    for (const id of ['hook-1', 'hook-2']) {
      await writer.putNotification(notificationOf({ id }));
      await writer.putSigningKey(id, `${KEY} of ${id}`);
    }
    await writer.putNotification(notificationOf({ id: 'unsigned' }));
  });
  await store.close();
  return path;
}

t.test('no file of the database holds a key or an address in clear, and neither does a backup', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const url = 'https://me:user-info@hooks.example/a-secret-path';
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ url, declaration: { url } }));
    await writer.putSigningKey('hook-1', KEY);
  });
  const copy = `${t.testdir()}/backup.db`;
  await backupSqlite(path, copy, Buffer.alloc(32, 3));
  for (const file of [path, `${path}-wal`, copy]) {
    const bytes = await readFile(file);
    for (const secret of [KEY, 'user-info', 'a-secret-path']) t.notOk(bytes.includes(secret), `${file}: ${secret}`);
  }
  const expected = { ...notificationOf({ url, declaration: { url } }), hasSigningKey: true };
  t.match(await store.read.notification('hook-1'), expected);
});

t.test('an address that an earlier version kept in clear is sealed at the start', async (t) => {
  const path = await sealedDatabase(t);
  const earlier = new DatabaseSync(path);
  earlier.exec(`update notifications set url = 'https://old.example/in-clear', declaration = '{"url":"x"}'`);
  earlier.close();
  const store = await open(path, createSealer([oldKey], randomBytes));
  t.teardown(() => store.close());
  t.match(await store.read.notification('hook-1'), { url: 'https://old.example/in-clear', declaration: { url: 'x' } });
  const rows = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => rows.close());
  for (const { url, declaration } of rows.prepare('select url, declaration from notifications').all()) {
    t.match([url, declaration], [/^1\./, /^1\./]);
  }
});

t.test('a sealed key that was moved to another row opens there no more', async (t) => {
  const path = await sealedDatabase(t);
  const vandal = new DatabaseSync(path);
  vandal.exec(`update notifications set signing_key = (select signing_key from notifications where id = 'hook-1')`);
  vandal.close();
  const store = await open(path, createSealer([oldKey], randomBytes));
  t.teardown(() => store.close());
  t.equal((await store.read.signingKeys('hook-1'))[0]?.export().toString(), `${KEY} of hook-1`);
  await t.rejects(store.read.signingKeys('hook-2'), { name: 'UnsealableSecret', message: /hook-2.*is damaged/ });
});

t.test('one start with both keys is enough to retire the old one', async (t) => {
  const path = await sealedDatabase(t);
  await (await open(path, createSealer([newKey, oldKey], randomBytes))).close();
  const store = await open(path, createSealer([newKey], randomBytes));
  t.teardown(() => store.close());
  for (const id of ['hook-1', 'hook-2']) {
    t.equal((await store.read.signingKeys(id))[0]?.export().toString(), `${KEY} of ${id}`);
  }
  t.strictSame(await store.read.signingKeys('unsigned'), []);
});

t.test('a store without a sealing key takes none', async (t) => {
  const store = await open(`${t.testdir()}/store.db`);
  t.teardown(() => store.close());
  await t.rejects(
    store.write((writer) => writer.putNotification(notificationOf())),
    { message: 'This store was opened without a key to seal secrets with' },
  );
  t.strictSame(await store.read.allNotifications(), []);
});

t.test('a record of unknown shape is an error that names it', async (t) => {
  const path = await sealedDatabase(t);
  const vandal = new DatabaseSync(path);
  vandal.exec(`update notifications set declaration = '[' where id = 'hook-1'`);
  vandal.close();
  const store = await open(path, createSealer([oldKey], randomBytes));
  t.teardown(() => store.close());
  await t.rejects(store.read.notification('hook-1'), { name: 'UnreadableRecord', message: /hook-1/ });
  t.match(await store.read.notification('hook-2'), { id: 'hook-2' });
});

t.test('what is read again is opened once, until it is another', async (t) => {
  const inner = createSealer([oldKey], randomBytes);
  let opened = 0;
  const opening = (...[sealed, place]: Parameters<Sealer['open']>) => {
    if (place.table === 'notifications') opened += 1;
    return inner.open(sealed, place);
  };
  const store = await open(`${t.testdir()}/store.db`, { ...inner, open: opening });
  t.teardown(() => store.close());
  const put = (url: string) => store.write((writer) => writer.putNotification(notificationOf({ url })));
  await put('https://one.example/');
  for (let read = 0; read < 3; read += 1) await store.read.notification('hook-1');
  t.equal(opened, 1);
  await put('https://two.example/');
  t.match(await store.read.notification('hook-1'), { url: 'https://two.example/' });
  t.equal(opened, 2);
});
