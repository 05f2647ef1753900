import t from 'tap';
import { z } from 'zod';
import type { AuditedChange } from '../../../../src/features/audit/record.ts';
import { changeSettingsOnce, resource } from '../../../../src/features/resource.ts';
import { type NotificationFields, notificationRecord } from '../../../../src/features/webhooks/records/notification.ts';
import { OPERATOR, operatorOnce } from '../../../support/caller.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';
import { relayerOf, storeFor } from '../../../support/store.ts';

const ALL = { before: null, limit: 10 };

function auditOf(given: Partial<AuditedChange> = {}): AuditedChange {
  return { action: 'create', resource: 'relayer', resourceId: 'r1', before: null, after: { id: 'r1' }, ...given };
}

t.test('a change and its record are one commit', async (t) => {
  const store = await storeFor(t);
  const made = await changeSettingsOnce(store, OPERATOR, async (writer) => {
    await writer.putRelayer(relayerOf());
    return { outcome: 'made', audit: auditOf() };
  });
  t.match(made, { isRepeat: false, made: { outcome: 'made' } });
  t.match((await store.read.auditRecords(ALL, {})).items, [
    { ...auditOf(), keyId: 'operator', requestId: 'request-1' },
  ]);

  const failing = changeSettingsOnce(store, OPERATOR, async (writer) => {
    await writer.deleteRelayer('relayer-1');
    throw new Error('no');
  });
  await t.rejects(failing, { message: 'no' });
  t.ok(await store.read.relayer('relayer-1'));
  t.equal((await store.read.auditRecords(ALL, {})).items.length, 1);
});

t.test('what changes nothing leaves no record, unless it is a secret that changed', async (t) => {
  const store = await storeFor(t);
  const view = { id: 'r1', cap: 5n };
  const change = (given: Partial<AuditedChange>) =>
    changeSettingsOnce(store, OPERATOR, async () => ({ outcome: null, audit: auditOf({ before: view, ...given }) }));
  await change({ after: { ...view } });
  await change({ after: { ...view }, secrets: ['signing_key'] });
  await change({ after: { ...view, cap: 6n } });
  const { items } = await store.read.auditRecords(ALL, {});
  t.match(items, [{ after: { cap: 6 } }, { secrets: ['signing_key'] }]);
  t.equal(items.length, 2);
});

t.test('under one name there is one change and one record', async (t) => {
  const store = await storeFor(t);
  const once = operatorOnce(await keyedEffect(store));
  const change = () => changeSettingsOnce(store, once, async () => ({ outcome: 7, audit: auditOf() }));
  const both = await Promise.all([change(), change()]);
  t.equal(both.filter(({ isRepeat }) => isRepeat).length, 1);
  t.match(both, [{ made: { outcome: 7 } }, { made: { outcome: 7 } }]);
  t.equal((await store.read.auditRecords(ALL, {})).items.length, 1);
});

t.test('a resource without special rules needs no more than its declaration', async (t) => {
  const store = await storeFor(t);
  const fields = { url: z.string(), type: z.literal('webhook') };
  const service = resource<NotificationFields>({
    name: 'notification',
    noun: 'thing',
    tag: 'Things',
    about: 'Things.',
    exampleId: 'one',
    record: notificationRecord,
    schema: z.object(fields),
    list: { answer: 'Things' },
    create: { body: { schema: z.strictObject({ id: z.string().optional(), ...fields }), example: {} } },
    update: { body: { schema: z.strictObject(fields).partial(), example: {} } },
    remove: {},
    view: ({ id, url }) => ({ id, url }),
  }).open({ store, newId: () => 'made' });
  const one = { type: 'webhook', url: 'https://one.example' };
  t.strictSame(await service.create({ ...one, id: 'one' }, OPERATOR), { id: 'one', url: one.url });
  t.match(await service.create(one, OPERATOR), { id: 'made' });
  await t.rejects(service.create({ ...one, id: 'one' }, OPERATOR), { code: 'NOTIFICATION_EXISTS' });
  await t.rejects(service.create({ ...one, more: 1 }, OPERATOR), { code: 'INVALID_REQUEST' });
  t.match(await service.update('one', { url: 'https://two.example' }, OPERATOR), { url: 'https://two.example' });
  await t.rejects(service.update('nobody', {}, OPERATOR), { code: 'NOTIFICATION_NOT_FOUND' });
  t.match(await store.read.notification('one'), { type: 'webhook', url: 'https://two.example' }, 'it is opened again');
  t.match(await service.list({ page: 2, perPage: 1 }), { items: [{ id: /^(one|made)$/ }], total: 2 });
  await service.remove('one', OPERATOR);
  await t.rejects(service.get('one'), { code: 'NOTIFICATION_NOT_FOUND' });
  const { items } = await store.read.auditRecords(ALL, {});
  t.strictSame(
    items.map(({ action, resourceId }) => `${action} ${resourceId}`),
    ['delete one', 'update one', 'create made', 'create one'],
  );
});

t.test('a resource that relayers use and that lacks the error for it is not opened', async (t) => {
  const store = await storeFor(t);
  const body = { schema: z.object({}), example: {} };
  // Nothing uses API keys, so there is no error for it.
  const kind = resource({
    name: 'api_key',
    noun: 'key',
    tag: 'API keys',
    about: '',
    exampleId: 'a',
    schema: z.object({}),
    list: { answer: '' },
    create: { body },
    update: { body },
    remove: {},
    view: () => ({}),
    on: () => ({ useOf: () => ({ signerId: 'none' }) }),
  });
  t.throws(() => kind.open({ store, newId: () => 'a' }), { message: /errors\.ts lacks API_KEY_IN_USE/ });
});
