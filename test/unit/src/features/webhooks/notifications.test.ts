import type { Test } from 'tap';
import t from 'tap';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createWebhookClient } from '../../../../../src/egress/webhook-client.ts';
import { notificationResource } from '../../../../../src/features/webhooks/notifications.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { storeFor } from '../../../../support/store.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const URL_ONE = 'https://hooks.example/one';
const LONG_KEY = 'a key of thirty-two bytes or more';

async function stage(t: Test) {
  const store = await storeFor(t);
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const [declared, others] = [false, true].map((blockPrivate) =>
    createAddressGuard({ allowedHosts: [], blockPrivate }),
  );
  const webhooks = createWebhookClient({ declared, others } as Parameters<typeof createWebhookClient>[0]);
  t.teardown(() => webhooks.close());
  const made = notificationResource.open({ store, webhooks, log, newId: () => crypto.randomUUID() });
  const service = {
    ...made,
    create: (body: unknown, by = OPERATOR) => made.create(body, by),
    update: (id: string, body: unknown, by = OPERATOR) => made.update(id, body, by),
    remove: (id: string, by = OPERATOR) => made.remove(id, by),
  };
  const keyOf = async (id: string) => (await store.read.signingKeys(id))[0]?.export().toString() ?? null;
  return { store, service, lines, keyOf };
}

t.test('what is created is shown without its key, and found again', async (t) => {
  const { service, keyOf } = await stage(t);
  const view = await service.create({ id: 'n1', type: 'webhook', url: URL_ONE, signing_key: LONG_KEY });
  t.strictSame(view, { id: 'n1', type: 'webhook', url: URL_ONE, has_signing_key: true });
  t.strictSame(Object.keys(view), ['id', 'type', 'url', 'has_signing_key']);
  t.strictSame(await service.get('n1'), view);
  t.equal(await keyOf('n1'), LONG_KEY);

  const made = await service.create({ url: 'https://hooks.example/' });
  t.match(made, { id: UUID, type: 'webhook', has_signing_key: false });
  const { items, total } = await service.list({ page: 1, perPage: 1 });
  t.strictSame([items.length, total], [1, 2]);
});

t.test(
  'an address that policy can never call is refused with the reason, and one that a name may hide is not',
  async (t) => {
    const { service, store } = await stage(t);
    await service.create({ id: 'n1', url: URL_ONE });
    for (const [url, reason] of [
      ['http://127.0.0.1:1/', 'url: 127.0.0.1 is refused: a loopback address'],
      ['http://10.1.2.3/hook', 'url: 10.1.2.3 is refused: a private address'],
      ['http://localhost/hook', 'url: localhost is refused: a private name'],
      ['http://169.254.169.254/latest', 'url: 169.254.169.254 is refused: a link-local address'],
      ['http://[fd00:ec2::254]/', 'url: [fd00:ec2::254] is refused: a cloud metadata service'],
      ['https://hooks.example/***', 'url: is hidden in part, as answers show it; give the whole URL'],
    ] as const) {
      const refused = { code: 'INVALID_REQUEST', status: 400, publicMessage: 'Bad Request', message: reason };
      await t.rejects(service.create({ url }), refused, url);
      await t.rejects(service.update('n1', { url }), refused, url);
    }
    t.match(await service.create({ id: 'later', url: 'https://no-such-host.invalid/hook' }), { id: 'later' });

    const inside = 'http://10.0.0.1/hook';
    const url = 'https://moved.example/';
    await store.write((writer) =>
      writer.putNotification({ id: 'own', type: 'webhook', url, declaration: { url: inside } }),
    );
    t.match(await service.update('own', { url: inside }), { url: inside }, 'the operator declared it');
  },
);

t.test('an address is shown by its words, and what was shown comes back without a change', async (t) => {
  const { service, store } = await stage(t);
  const url = 'https://me:secret@hooks.example/services/T0/B00000000/hook?token=x';
  const shown = 'https://***@hooks.example/***/T0/***/hook?***';
  t.match(await service.create({ id: 'n1', url }), { url: shown });
  t.match(await service.get('n1'), { url: shown });
  t.match((await service.list({ page: 1, perPage: 1 })).items, [{ url: shown }]);
  t.match(await service.update('n1', { url: shown, signing_key: LONG_KEY }), { url: shown, has_signing_key: true });
  t.equal((await store.read.notification('n1'))?.url, url);
  await t.rejects(service.update('n1', { url: `${shown}1` }), { message: /hidden in part/ });
});

t.test('an id is taken once, also by two at the same time', async (t) => {
  const { service, keyOf } = await stage(t);
  const both = await Promise.allSettled([
    service.create({ id: 'n1', url: URL_ONE, signing_key: LONG_KEY }),
    service.create({ id: 'n1', url: 'https://hooks.example/two' }),
  ]);
  t.strictSame(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  await t.rejects(service.create({ id: 'n1', url: URL_ONE }), {
    code: 'NOTIFICATION_EXISTS',
    status: 409,
    publicMessage: 'Notification with this ID already exists',
  });
  t.equal(await keyOf('n1'), LONG_KEY, 'the refused one changed nothing');
});

t.test('the three meanings of a signing key', async (t) => {
  const { service, keyOf } = await stage(t);
  await service.create({ id: 'n1', url: URL_ONE, signing_key: LONG_KEY });
  for (const unchanged of [{}, { signing_key: null }, { url: 'https://hooks.example/two', type: 'webhook' }]) {
    t.match(await service.update('n1', unchanged), { has_signing_key: true });
    t.equal(await keyOf('n1'), LONG_KEY, JSON.stringify(unchanged));
  }
  t.match(await service.get('n1'), { url: 'https://hooks.example/two' });
  t.match(await service.update('n1', { signing_key: 'another' }), { has_signing_key: true });
  t.equal(await keyOf('n1'), 'another');
  t.match(await service.update('n1', { signing_key: '' }), {
    has_signing_key: false,
    url: 'https://hooks.example/two',
  });
  t.equal(await keyOf('n1'), null);
  t.match(await service.update('n1', { signing_key: '' }), { has_signing_key: false });
});

t.test('a short key is accepted with a warning that does not show it; bytes count', async (t) => {
  const { service, lines } = await stage(t);
  await service.create({ id: 'n1', url: URL_ONE, signing_key: 'x' });
  await service.update('n1', { signing_key: 'tooshort-secret' });
  t.equal(lines.length, 2);
  t.match(lines[0], /"level":"warn".*"notification":"n1".*fewer than 32 bytes/);
  t.notMatch(lines.join(''), /tooshort/);
  await service.update('n1', { signing_key: 'ü'.repeat(16) });
  await service.update('n1', { signing_key: '' });
  t.equal(lines.length, 2);
});

t.test('a refused body changes nothing, and an unknown id is 404 before anything else', async (t) => {
  const { service, keyOf } = await stage(t);
  await service.create({ id: 'n1', url: URL_ONE, signing_key: LONG_KEY });
  for (const body of [{ url: 'nowhere', signing_key: '' }, { id: 'n2' }, [], null, 'x', { signing_key: 5 }]) {
    await t.rejects(service.update('n1', body), { code: 'INVALID_REQUEST', publicMessage: 'Bad Request' });
    await t.rejects(service.update('nobody', body), { code: 'NOTIFICATION_NOT_FOUND' });
  }
  t.match(await service.get('n1'), { url: URL_ONE, has_signing_key: true });
  t.equal(await keyOf('n1'), LONG_KEY);
  for (const asked of [service.get('nobody'), service.remove('nobody')] as Promise<unknown>[]) {
    await t.rejects(asked, {
      status: 404,
      message: "Notification with ID 'nobody' not found",
      publicMessage: 'Notification not found',
    });
  }
});

t.test('what relayers refer to is not deleted', async (t) => {
  const world = await EngineWorld.open(t);
  const notifications = world.services().resources.notification;
  await notifications.create({ id: 'n1', url: URL_ONE }, OPERATOR);
  await world.store.write(async (writer) => {
    for (const id of ['a', 'b']) await writer.putRelayer(relayerNamed(id, { notificationId: 'n1' }));
  });
  await t.rejects(notifications.remove('n1', OPERATOR), {
    status: 409,
    publicMessage: 'Notification is in use',
    message:
      "Cannot delete notification 'n1' because it is being used by 2 relayer(s): b, a. Please remove or reconfigure these relayers before deleting the notification.",
  });
  await world.store.write(async (writer) => {
    for (const id of ['a', 'b']) await writer.putRelayer(relayerNamed(id));
  });
  await notifications.remove('n1', OPERATOR);
  await t.rejects(notifications.get('n1'), { code: 'NOTIFICATION_NOT_FOUND' });
});

t.test('under one name each change happens once, and is answered as the first time', async (t) => {
  const { store, service, keyOf } = await stage(t);
  const effect = await keyedEffect(store);
  const once = (occurrence: number) => operatorOnce({ ...effect, occurrence });
  const [create, update, remove] = [once(0), once(1), once(2)];
  const created = { id: 'n1', type: 'webhook', url: URL_ONE, has_signing_key: true };
  const body = { id: 'n1', url: URL_ONE, signing_key: LONG_KEY };
  for (let round = 0; round < 2; round += 1) t.strictSame(await service.create(body, create), created);

  const changed = { ...created, has_signing_key: false };
  t.strictSame(await service.update('n1', { signing_key: '' }, update), changed);
  await service.update('n1', { signing_key: LONG_KEY });
  t.strictSame(await service.update('n1', { signing_key: '' }, update), changed);
  t.equal(await keyOf('n1'), LONG_KEY, 'the later change stands');

  await service.remove('n1', remove);
  await service.remove('n1', remove);
  t.strictSame(await service.update('n1', { signing_key: '' }, update), changed, 'also of one that is gone');
  await t.rejects(service.remove('n1'), { code: 'NOTIFICATION_NOT_FOUND' });
});

t.test('each change leaves a record of who made it, with the views and without the key', async (t) => {
  const { store, service } = await stage(t);
  await service.create({ id: 'n1', url: `${URL_ONE}?token=secret`, signing_key: LONG_KEY });
  await service.update('n1', { url: 'https://hooks.example/two' });
  await service.update('n1', { signing_key: '' });
  await service.update('n1', {});
  await service.remove('n1');
  const { items } = await store.read.auditRecords({ before: null, limit: 10 }, {});
  const [shown, moved] = [
    { id: 'n1', type: 'webhook', url: `${URL_ONE}?***`, has_signing_key: true },
    { id: 'n1', type: 'webhook', url: 'https://hooks.example/two', has_signing_key: true },
  ];
  const unsigned = { ...moved, has_signing_key: false };
  t.match(items, [
    { action: 'delete', resource: 'notification', resourceId: 'n1', before: unsigned, after: null },
    { action: 'update', before: moved, after: unsigned, secrets: ['signing_key'] },
    { action: 'update', before: shown, after: moved, secrets: [] },
    {
      action: 'create',
      before: null,
      after: shown,
      secrets: ['signing_key'],
      keyId: 'operator',
      requestId: 'request-1',
    },
  ]);
  t.equal(items.length, 4, 'what changes nothing leaves none');
});

t.test('a second key is set beside the first, shown while it is there, and recorded without being told', async (t) => {
  const { service, store } = await stage(t);
  await service.create({ id: 'n1', url: URL_ONE, signing_key: LONG_KEY });
  t.match(await service.update('n1', { second_signing_key: 'new' }), { has_second_signing_key: true });
  t.equal((await store.read.signingKeys('n1')).length, 2);
  await t.rejects(service.update('n1', { signing_key: '' }), {
    code: 'INVALID_REQUEST',
    message: 'second_signing_key: needs a signing_key',
  });
  t.equal((await store.read.signingKeys('n1')).length, 2, 'what was refused changed nothing');
  const view = await service.update('n1', { signing_key: 'new', second_signing_key: '' });
  t.strictSame(view, { id: 'n1', type: 'webhook', url: URL_ONE, has_signing_key: true });
  const [key, ...others] = await store.read.signingKeys('n1');
  t.strictSame([key?.export().toString(), others], ['new', []]);
  await t.rejects(service.create({ url: URL_ONE, second_signing_key: 'x' }), { code: 'INVALID_REQUEST' });
  const { items } = await store.read.auditRecords({ before: null, limit: 9 }, { resourceId: 'n1' });
  t.strictSame(
    items.map(({ secrets }) => secrets),
    [['signing_key', 'second_signing_key'], ['second_signing_key'], ['signing_key']],
  );
});
