import t from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import {
  applyChangedNotifications,
  applyNotifications,
  type DeclaredNotification,
} from '../../../../../src/services/declarations/notification-declarations.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { notificationOf, storeFor } from '../../../../support/store.ts';

const silent = createLog('silent');
const variables: Record<string, string> = { ONE: 'key one', TWO: 'key two' };
const secretOf = ({ type, value }: { type: 'env' | 'plain'; value: string }) =>
  type === 'plain' ? value : (variables[value] ?? '');
const entry = (given: Partial<DeclaredNotification> = {}): DeclaredNotification => ({
  id: 'hook-1',
  type: 'webhook',
  url: 'https://hooks.example/one',
  ...given,
});
const env = (value: string) => ({ type: 'env', value }) as const;
const apply = (store: Store, ...entries: DeclaredNotification[]) =>
  applyNotifications(store, entries, secretOf, silent);
const keyOf = async (store: Store) => (await store.read.signingKeys('hook-1'))[0]?.export().toString() ?? null;
const urlOf = async (store: Store) => (await store.read.notification('hook-1'))?.url;

t.test('what is declared for the first time is stored as declared', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry({ signing_key: env('ONE') }), entry({ id: 'hook-2' }));
  t.match(await store.read.notification('hook-1'), { url: 'https://hooks.example/one', hasSigningKey: true });
  t.match(await store.read.notification('hook-2'), { hasSigningKey: false });
  t.equal(await keyOf(store), 'key one');
});

t.test("url: a client's change outlives a restart until the file changes", async (t) => {
  const store = await storeFor(t);
  await apply(store, entry());
  const stored = await store.read.notification('hook-1');
  await store.write((writer) =>
    writer.putNotification({
      ...notificationOf(),
      url: 'https://client.example/',
      declaration: stored?.declaration ?? null,
    }),
  );
  await apply(store, entry());
  t.equal(await urlOf(store), 'https://client.example/');
  await apply(store, entry({ url: 'https://hooks.example/two' }));
  t.equal(await urlOf(store), 'https://hooks.example/two');
});

t.test('signing_key: one that the file refers to is always that of the file', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry({ signing_key: env('ONE') }));
  await store.write((writer) => writer.putSigningKey('hook-1', 'of a client'));
  await apply(store, entry({ signing_key: env('ONE') }));
  t.equal(await keyOf(store), 'key one');
  await apply(store, entry({ signing_key: env('TWO') }));
  t.equal(await keyOf(store), 'key two');
  await apply(store, entry());
  t.equal(await keyOf(store), null, 'taken out of the file, it is gone');
});

t.test('signing_key: one that a client gave stays while the file never named any', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry());
  await store.write((writer) => writer.putSigningKey('hook-1', 'of a client'));
  await apply(store, entry());
  t.equal(await keyOf(store), 'of a client');
});

t.test('a key in the file itself is not remembered with the declaration', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry({ signing_key: { type: 'plain', value: 'nobody may see this' } }));
  t.equal(await keyOf(store), 'nobody may see this');
  t.notMatch(JSON.stringify(await store.read.notification('hook-1')), /nobody/);
});

t.test('one that a client made becomes the file’s when the file declares its id', async (t) => {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ url: 'https://client.example/' }));
    await writer.putSigningKey('hook-1', 'of a client');
  });
  await apply(store, entry());
  t.match(await store.read.notification('hook-1'), { url: 'https://hooks.example/one', declaration: {} });
});

t.test('what is no longer declared stays, with a warning', async (t) => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const store = await storeFor(t);
  await store.write((writer) => writer.putNotification(notificationOf({ id: 'made' })));
  await applyNotifications(store, [entry()], secretOf, log);
  t.same(lines, []);
  await applyNotifications(store, [], secretOf, log);
  t.ok(await store.read.notification('hook-1'));
  t.equal(lines.length, 1);
  t.match(lines[0], /"notification":"hook-1".*no longer declared/);
});

t.test('a reset takes all from the file and drops the rest', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry(), entry({ id: 'gone' }));
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'api-made' }));
    await writer.putNotification({ ...notificationOf({ id: 'hook-1' }), url: 'https://client.example/' });
    await writer.putSigningKey('hook-1', 'given by a client');
  });
  await applyNotifications(store, [entry()], secretOf, silent, { reset: true });
  t.strictSame(
    (await store.read.allNotifications()).map(({ id }) => id),
    ['hook-1'],
  );
  t.equal(await urlOf(store), 'https://hooks.example/one');
  t.equal(await keyOf(store), null);
});

t.test('second_signing_key: as the file says, beside the first', async (t) => {
  const store = await storeFor(t);
  const keysOf = async () => (await store.read.signingKeys('hook-1')).map((key) => key.export().toString());
  await apply(store, entry({ signing_key: env('ONE'), second_signing_key: env('TWO') }));
  t.strictSame(await keysOf(), ['key one', 'key two']);
  await apply(store, entry({ signing_key: env('TWO') }));
  t.strictSame(await keysOf(), ['key two']);
});

t.test('one that has changed while the service runs is applied alone', async (t) => {
  const store = await storeFor(t);
  await apply(store, entry(), entry({ id: 'other' }));
  await store.write((writer) =>
    writer.putNotification({ ...notificationOf({ id: 'other' }), url: 'https://client.example/' }),
  );
  await applyChangedNotifications(
    store,
    [entry({ url: 'https://hooks.example/two', signing_key: env('ONE') })],
    secretOf,
  );
  t.equal(await urlOf(store), 'https://hooks.example/two');
  t.equal(await keyOf(store), 'key one');
  t.equal((await store.read.notification('other'))?.url, 'https://client.example/');
});
