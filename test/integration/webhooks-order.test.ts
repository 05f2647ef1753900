/** Receivers that misbehave in every way. Each event still arrives, signed, and in order for each transaction. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createWebhookClient } from '../../src/egress/webhook-client.ts';
import { defaultWebhookTiming, WebhookDelivery } from '../../src/engine/webhooks/webhook-delivery.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { EngineWorld, pendingTransaction, present, relayerNamed } from '../support/engine-world.ts';
import { textOf } from '../support/exposition.ts';
import { notificationOf } from '../support/store.ts';
import {
  type Behaviour,
  type Delivery,
  signatureOf,
  startReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const KEY = 'schlüssel der empfänger, 32 bytes oder mehr';
const STATUSES = ['sent', 'submitted', 'mined', 'confirmed'];

async function receiverFor(t: Test): Promise<WebhookReceiver> {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  return receiver;
}

/** A world whose relayers notify these receivers, and the delivery of their events. */
async function stage(t: Test, receivers: Record<string, string>) {
  const world = await EngineWorld.open(t);
  await world.store.write(async (writer) => {
    for (const [id, url] of Object.entries(receivers)) {
      await writer.putRelayer(relayerNamed(id, { notificationId: id }));
      await writer.putNotification(notificationOf({ id, url, declaration: { url } }));
      await writer.putSigningKey(id, KEY);
    }
  });
  const client = createWebhookClient(
    {
      declared: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
      others: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
    },
    { connectMs: 1_000, totalMs: 300 },
  );
  t.teardown(() => client.close());
  const metrics = createMetrics();
  const delivery = new WebhookDelivery({
    store: world.store,
    client,
    log: world.log,
    metrics,
    clock: systemClock,
    random: Math.random,
    timing: {
      ...defaultWebhookTiming,
      claimMs: 3_000,
      restMs: 5,
      restCapMs: 20,
      retryMs: 10,
      retryCapMs: 50,
      sweepMs: 100,
      sweepFloorMs: 2,
    },
  });
  t.teardown(() => delivery.close());
  delivery.start();
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const send = async (relayerId: string, effect: string) => {
    const transaction = pendingTransaction(effect, { relayerId });
    await world.store.write((writer) => writer.insertTransaction(transaction));
    engine.wake(transaction.lane);
    return transaction;
  };
  return { world, metrics, send };
}

/** The statuses of one transaction, in the order of their first arrival. */
function statusesOf(deliveries: readonly Delivery[], id: string): string[] {
  const seen = new Map<string, string>();
  for (const { json } of deliveries) {
    if (json.payload.id === id && !seen.has(json.id)) seen.set(json.id, String(json.payload.status));
  }
  return [...seen.values()];
}

/** All statuses in order. After a delay, the engine may find a transaction confirmed without having seen it mined. */
function inOrder(t: Test, statuses: readonly string[]): void {
  const wanted = STATUSES.filter((status) => status !== 'mined' || statuses.includes(status));
  t.strictSame(statuses, wanted);
}

t.test('each event arrives, in order per transaction, whatever the receiver does', async (t) => {
  const receiver = await receiverFor(t);
  const moods: Behaviour[] = [
    { status: 500 },
    'reset',
    'hang',
    'drip',
    { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' } },
    { status: 410 },
    'endless',
  ];
  let delivered = 0;
  receiver.answer = () => {
    const index = delivered++;
    return (index % 3 === 0 && moods[(index / 3) % moods.length]) || { status: 200 };
  };
  const { world, metrics, send } = await stage(t, { r1: receiver.url });
  const sent = await Promise.all(Array.from({ length: 12 }, (_, index) => send('r1', `pay ${index}`)));
  const ended = async () => (await world.store.read.waitingEvents()) === 0;
  for (const transaction of sent) await world.untilStatus(transaction, 'confirmed', { mining: true });
  await world.until('every event has ended', ended, { withinMs: 30_000 });

  for (const { id } of sent) inOrder(t, statusesOf(receiver.deliveries, id));
  const bytesOf = new Map<string, string>();
  for (const delivery of receiver.deliveries) {
    t.equal(delivery.headers['x-signature'], signatureOf(delivery, KEY));
    const bytes = delivery.bytes.toString('base64');
    t.equal(bytesOf.get(delivery.json.id) ?? bytes, bytes, 'a repetition has the same bytes');
    bytesOf.set(delivery.json.id, bytes);
  }
  const changes = sent.reduce((sum, { id }) => sum + statusesOf(receiver.deliveries, id).length, 0);
  t.equal(bytesOf.size, changes, 'one event for each change of status, none for the acceptance');
  t.match(await textOf(metrics), `isolayer_webhook_events_ended_total{end="delivered"} ${changes}`);
});

t.test('a receiver that hangs for ever costs another one nothing', async (t) => {
  const [stuck, well] = [await receiverFor(t), await receiverFor(t)];
  stuck.answer = () => 'hang';
  const { world, send } = await stage(t, { r1: stuck.url, r2: well.url });
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, index) => send(index % 2 === 0 ? 'r1' : 'r2', `pay ${index}`)),
  );
  for (const transaction of sent) await world.untilStatus(transaction, 'confirmed', { mining: true });
  const ofWell = sent.filter(({ relayerId }) => relayerId === 'r2');
  const all = (deliveries: readonly Delivery[]) =>
    ofWell.every(({ id }) => statusesOf(deliveries, id).at(-1) === 'confirmed');
  await well.until('all of its events arrived', all);
  for (const { id } of ofWell) inOrder(t, statusesOf(well.deliveries, id));
  t.ok(stuck.deliveries.length > 0);
  t.ok(
    stuck.deliveries.every(({ json }) => json.payload.status === 'sent'),
    'what comes later waits for what was first',
  );
});

t.test(
  'an event that was not committed with its change does not exist: what failed to commit is not told',
  async (t) => {
    const receiver = await receiverFor(t);
    const { world, send } = await stage(t, { r1: receiver.url });
    const transaction = await send('r1', 'pay');
    await world.untilStatus(transaction, 'confirmed', { mining: true });
    await receiver.until(
      'all arrived',
      (deliveries) => statusesOf(deliveries, String(transaction.id)).at(-1) === 'confirmed',
    );
    const last = present(receiver.deliveries.at(-1));
    t.match(last.json, {
      event: 'transaction_update',
      payload: { payload_type: 'transaction', id: transaction.id, status: 'confirmed' },
    });
    t.equal((await world.get(transaction)).status, last.json.payload.status);
  },
);
