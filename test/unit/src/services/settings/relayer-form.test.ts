import t from 'tap';
import {
  checkNotification,
  relayerAudit,
  relayerNameSchema,
} from '../../../../../src/services/settings/relayer-form.ts';
import { notificationOf, storeFor } from '../../../../support/store.ts';

t.test('a name has 1 to 256 characters', (t) => {
  t.equal(relayerNameSchema.parse('x'), 'x');
  t.match(relayerNameSchema.safeParse('').error?.issues, [{ message: 'Name cannot be empty' }]);
  t.match(relayerNameSchema.safeParse('x'.repeat(257)).error?.issues, [
    { message: 'must have at most 256 characters' },
  ]);
  t.end();
});

t.test('a notification that is named has to be there', async (t) => {
  const store = await storeFor(t);
  await store.write((writer) => writer.putNotification(notificationOf()));
  for (const id of [null, undefined, 'hook-1']) await checkNotification(store.read, id);
  await t.rejects(checkNotification(store.read, 'nobody'), { code: 'NOTIFICATION_NOT_FOUND' });
});

t.test('endpoints that changed are named in a record, as they are hidden in part', (t) => {
  const views = { before: { id: 'r' }, after: { id: 'r' } };
  t.strictSame(relayerAudit('update', 'r', views).secrets, []);
  t.match(relayerAudit('update', 'r', views, true), { resource: 'relayer', secrets: ['custom_rpc_urls'] });
  t.end();
});
