import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { eventOf, notificationOf } from '../store.ts';

const KEY = 'a signing key that nobody may see, with ünïcode';

/** Tests of notifications for every store. */
export function notificationsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a notification comes back as it was put, its key only as an object that does not print', async (t) => {
    const store = await open(t);
    const declaration = { url: 'https://hooks.example/one', signing_key: { type: 'env', value: 'HOOK_KEY' } };
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf({ declaration }));
      await writer.putSigningKey('hook-1', KEY);
    });
    const stored = await store.read.notification('hook-1');
    t.strictSame(stored, {
      ...notificationOf({ declaration }),
      hasSigningKey: true,
      hasSecondSigningKey: false,
    });
    const [key] = await store.read.signingKeys('hook-1');
    t.notMatch(inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key), /nobody/);
    const expected = createHmac('sha256', KEY).update('body').digest('base64');
    t.equal(key && createHmac('sha256', key).update('body').digest('base64'), expected);
  });

  t.test('the key stays when the rest changes, is replaced and removed', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putNotification(notificationOf()));
    t.strictSame(await store.read.signingKeys('hook-1'), []);
    t.strictSame(await store.read.signingKeys('nobody'), []);
    await store.write((writer) => writer.putSigningKey('hook-1', 'first'));
    await store.write((writer) => writer.putNotification(notificationOf({ url: 'https://hooks.example/two' })));
    t.match(await store.read.notification('hook-1'), { url: 'https://hooks.example/two', hasSigningKey: true });
    await store.write((writer) => writer.putSigningKey('hook-1', 'second'));
    await store.write((writer) => writer.putSigningKey('hook-1', 'beside it', 'second_signing_key'));
    t.match(await store.read.notification('hook-1'), { hasSigningKey: true, hasSecondSigningKey: true });
    const keys = await store.read.signingKeys('hook-1');
    t.strictSame(
      keys.map((key) => key.export().toString()),
      ['second', 'beside it'],
    );
    await store.write((writer) => writer.putSigningKey('hook-1', null, 'second_signing_key'));
    t.equal((await store.read.signingKeys('hook-1')).length, 1);
    await store.write((writer) => writer.putSigningKey('hook-1', null));
    t.match(await store.read.notification('hook-1'), { hasSigningKey: false });
    t.strictSame(await store.read.signingKeys('hook-1'), []);
    await t.rejects(
      store.write((writer) => writer.putSigningKey('nobody', 'x')),
      { message: 'There is no notification nobody' },
    );
  });

  t.test('lists are in pages, those of one write by id', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      for (const id of ['a', 'c', 'b']) await writer.putNotification(notificationOf({ id }));
    });
    const page = await store.read.notifications({ page: 2, perPage: 2 });
    t.strictSame([page.items.map(({ id }) => id), page.total], [['a'], 3]);
    t.strictSame(
      (await store.read.allNotifications()).map(({ id }) => id),
      ['c', 'b', 'a'],
    );
  });

  t.test('a deleted one is gone, and what waited for it has ended', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf());
      await writer.putSigningKey('hook-1', KEY);
      await writer.insertEvent(eventOf());
    });
    t.equal(await store.read.waitingEvents(), 1);
    t.equal(await store.write((writer) => writer.deleteNotification('hook-1')), true);
    t.equal(await store.write((writer) => writer.deleteNotification('hook-1')), false);
    t.equal(await store.read.notification('hook-1'), undefined);
    t.strictSame(await store.read.signingKeys('hook-1'), []);
    t.equal(await store.read.waitingEvents(), 0);
    await store.write((writer) => writer.putNotification(notificationOf()));
    t.match(await store.read.notification('hook-1'), { hasSigningKey: false }, 'a later one of that id has no old key');
    t.strictSame(await store.read.dueNotifications((await store.now()) + 1000), []);
  });
}
