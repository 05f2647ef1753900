import t from 'tap';
import { Access, FULL_ACCESS } from '../../../../../src/features/api-keys/records/access.ts';
import { createDeliveriesService } from '../../../../../src/features/webhooks/deliveries.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { eventOf, notificationOf, storeFor } from '../../../../support/store.ts';

const ALL = { before: null, limit: 10 };

async function stage(t: Parameters<typeof storeFor>[0]) {
  const store = await storeFor(t, { now: () => 1_700_000_000_000, elapsed: () => 0 });
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'hook-1' }));
    await writer.insertEvent(
      eventOf({ id: 'e1', subject: 'transaction:t1', relayerId: 'r1', body: '{"big":12345678901234567890}' }),
    );
    await writer.insertEvent(eventOf({ id: 'e2', subject: '2', relayerId: 'r2' }));
    await writer.insertEvent(eventOf({ id: 'e3', subject: '3' }));
  });
  let woken = 0;
  const service = createDeliveriesService({ store, wake: () => void (woken += 1) });
  return { store, service, woken: () => woken };
}

t.test('deliveries are shown in the words of the wire', async (t) => {
  const { service } = await stage(t);
  const { items, next } = await service.list('hook-1', ALL, {}, FULL_ACCESS);
  t.strictSame([items.map((item) => (item as { id: string }).id), next], [['e3', 'e2', 'e1'], null]);
  const shown = {
    id: 'e1',
    notification_id: 'hook-1',
    relayer_id: 'r1',
    transaction_id: 't1',
    event: 'transaction_update',
    state: 'waiting',
    tries: 0,
    outcome: null,
    created_at: '2023-11-14T22:13:20.000+00:00',
    next_try_at: '2023-11-14T22:13:20.000+00:00',
    ended_at: null,
  };
  t.strictSame(items[2], shown);
  t.strictSame(await service.get('hook-1', 'e1', FULL_ACCESS), { ...shown, body: '{"big":12345678901234567890}' });
  t.strictSame((await service.list('hook-1', ALL, { state: 'dead' }, FULL_ACCESS)).items, []);
  t.match((await service.list('hook-1', ALL, { transactionId: 't1' }, FULL_ACCESS)).items, [{ id: 'e1' }]);
  t.strictSame((await service.list('hook-1', ALL, { transactionId: '2' }, FULL_ACCESS)).items, []);
  t.match(await service.get('hook-1', 'e2', FULL_ACCESS), { transaction_id: null });
  await t.rejects(service.list('nobody', ALL, {}, FULL_ACCESS), { code: 'NOTIFICATION_NOT_FOUND' });
  await t.rejects(service.get('nobody', 'e1', FULL_ACCESS), { code: 'NOTIFICATION_NOT_FOUND' });
  await t.rejects(service.get('hook-1', 'e9', FULL_ACCESS), { code: 'DELIVERY_NOT_FOUND' });
});

t.test('for a key there are those of the relayers that it sees, whatever it asks for', async (t) => {
  const { service, store } = await stage(t);
  const scoped = new Access(['notifications:write', 'relayers:r1:read']);
  const { items } = await service.list('hook-1', ALL, {}, scoped);
  t.match(items, [{ id: 'e1' }]);
  t.equal(items.length, 1);
  t.match(await service.get('hook-1', 'e1', scoped), { id: 'e1' });
  for (const id of ['e2', 'e3']) {
    await t.rejects(service.get('hook-1', id, scoped), { code: 'DELIVERY_NOT_FOUND' });
    await t.rejects(service.redeliver('hook-1', id, OPERATOR, scoped), { code: 'DELIVERY_NOT_FOUND' });
  }
  t.strictSame((await service.list('hook-1', ALL, {}, new Access(['notifications:read']))).items, []);
  t.equal(await store.read.latestChange(), 0);
});

t.test('one that was taken is delivered again, once for each keyed request, and leaves a record', async (t) => {
  const { service, store, woken } = await stage(t);
  const [event] = await store.write((writer) => writer.claimEvents('hook-1', 1, 60_000));
  if (event === undefined) throw new Error('one is due');
  await store.write((writer) => writer.settleEvent(event, { outcome: 'HTTP 200', end: 'delivered' }));
  const once = operatorOnce(await keyedEffect(store));
  const answer = await service.redeliver('hook-1', 'e1', once, FULL_ACCESS);
  t.match(answer, { id: 'e1', state: 'waiting', tries: 1, ended_at: null, body: String });
  t.strictSame(await service.redeliver('hook-1', 'e1', once, FULL_ACCESS), answer);
  t.equal(woken(), 2);
  const { items } = await store.read.auditRecords({ before: null, limit: 9 }, {});
  t.equal(items.length, 1);
  t.match(items[0], {
    action: 'redeliver',
    resource: 'delivery',
    resourceId: 'e1',
    before: { state: 'delivered' },
    after: { state: 'waiting' },
  });
  t.notOk('body' in (items[0]?.after ?? {}), 'what was told is not told twice');
});
