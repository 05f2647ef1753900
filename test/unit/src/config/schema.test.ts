import t from 'tap';
import { notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from '../../../../src/config/schema.ts';
import { relayer, signer } from '../../../support/config-folder.ts';

t.test('a relayer: what it needs, what it may have', (t) => {
  const full = { ...relayer, notification_id: null, custom_rpc_urls: ['https://a.test'], policies: { x: 1 }, extra: 1 };
  t.match(relayerEntrySchema.parse(full), { id: 'r1', custom_rpc_urls: [{ url: 'https://a.test', weight: 100 }] });
  for (const key of Object.keys(relayer)) {
    t.notOk(relayerEntrySchema.safeParse({ ...relayer, [key]: undefined }).success, `${key} is needed`);
    t.notOk(relayerEntrySchema.safeParse({ ...relayer, [key]: 7 }).success, `${key} has a type`);
  }
  t.notOk(relayerEntrySchema.safeParse({ ...relayer, id: 'x'.repeat(37) }).success);
  t.notOk(relayerEntrySchema.safeParse({ ...relayer, custom_rpc_urls: [] }).success);
  t.end();
});

t.test('a signer has no other keys', (t) => {
  t.ok(signerEntrySchema.safeParse(signer).success);
  t.notOk(signerEntrySchema.safeParse({ ...signer, passphrase: 'x' }).success);
  t.end();
});

t.test('a notification is a webhook', (t) => {
  const entry = { id: 'n', type: 'webhook', url: 'https://a.test', signing_key: { type: 'env', value: 'K' } };
  t.ok(notificationEntrySchema.safeParse(entry).success);
  for (const wrong of [{ type: 'email' }, { url: 'x' }, { signing_key: 'text' }, { extra: 1 }]) {
    t.notOk(notificationEntrySchema.safeParse({ ...entry, ...wrong }).success, JSON.stringify(wrong));
  }
  t.end();
});
