import t from 'tap';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import {
  checkNotification,
  checkSignerUse,
  relayerAudit,
  relayerNameSchema,
} from '../../../../../src/features/relayers/relayer-form.ts';
import { OPERATOR } from '../../../../support/caller.ts';
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
  for (const id of [null, undefined, 'hook-1']) await checkNotification(store.read, id, OPERATOR);
  await t.rejects(checkNotification(store.read, 'nobody', OPERATOR), { code: 'NOTIFICATION_NOT_FOUND' });
});

/** A caller with these permissions. */
const by = (...permissions: string[]) => ({ ...OPERATOR, access: new Access(permissions) });

t.test('one that does not exist for the key is answered as one that nobody has', async (t) => {
  const store = await storeFor(t);
  await store.write((writer) => writer.putNotification(notificationOf()));
  const notThere = { code: 'NOTIFICATION_NOT_FOUND', message: "Notification with ID 'hook-1' not found" };
  await t.rejects(checkNotification(store.read, 'hook-1', by('relayers:*')), notThere);
  await checkNotification(store.read, 'hook-1', by('notifications:read'));
  await checkNotification(store.read, null, by('relayers:*'));
});

t.test('to use a signer takes the right over signers', (t) => {
  for (const one of [OPERATOR, by('*'), by('signers:write')]) checkSignerUse('key', one);
  t.throws(() => checkSignerUse('key', by('relayers:*')), { code: 'SIGNER_NOT_FOUND' });
  t.throws(() => checkSignerUse('key', by('signers:read')), {
    code: 'NOT_PERMITTED',
    message: 'The API key has no permission signers:write',
  });
  t.end();
});

t.test('endpoints that changed are named in a record, as they are hidden in part', (t) => {
  const views = { before: { id: 'r' }, after: { id: 'r' } };
  t.strictSame(relayerAudit('update', 'r', views).secrets, []);
  t.match(relayerAudit('update', 'r', views, true), { resource: 'relayer', secrets: ['custom_rpc_urls'] });
  t.end();
});
