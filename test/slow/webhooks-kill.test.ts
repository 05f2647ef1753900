/**
 * The server and the receiver are killed while events wait and one is being delivered. When both are back, each event
 * arrives at least once, in order for each transaction.
 */
import { JsonRpcProvider } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { type RunningService, startService } from '../support/service.ts';
import { type Delivery, signatureOf, startReceiver } from '../support/webhook-receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const TRANSFER = { to: RECEIVER, value: '1000', data: '0x', gas_limit: 21_000, speed: 'fast' };
const TRANSACTIONS = '/api/v1/relayers/local-1/transactions';
const KEY = 'a signing key from the environment, of many bytes';

function statusesOf(deliveries: readonly Delivery[], id: string): string[] {
  const seen = new Map<string, string>();
  for (const { json } of deliveries) {
    if (json.payload.id === id && !seen.has(json.id)) seen.set(json.id, String(json.payload.status));
  }
  return [...seen.values()];
}

async function untilConfirmed(service: RunningService, node: JsonRpcProvider, id: string): Promise<void> {
  for (let round = 0; round < 300; round += 1) {
    const { body } = await service.request('GET', `${TRANSACTIONS}/${id}`);
    if (body.data.status === 'confirmed') return;
    await node.send('anvil_mine', ['0x1']);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`transaction ${id} was not confirmed`);
}

t.test('each event arrives after the server and its receiver were killed', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  t.teardown(() => node.destroy());
  let receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const notification = {
    id: 'hook-1',
    type: 'webhook',
    url: receiver.url,
    signing_key: { type: 'env', value: 'HOOK_KEY' },
  };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    relayer: { notification_id: 'hook-1' },
    config: { notifications: [notification] },
    env: { HOOK_KEY: KEY },
  });
  t.teardown(() => workspace.remove());
  await node.send('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  let service = await startService(workspace.env);
  t.teardown(() => service.kill());

  const listed = await service.request('GET', '/api/v1/notifications');
  t.strictSame(listed.body.data, [{ id: 'hook-1', type: 'webhook', url: receiver.url, has_signing_key: true }]);

  receiver.answer = () => 'hang';
  const accepted = await Promise.all([1, 2, 3].map(() => service.request('POST', TRANSACTIONS, TRANSFER)));
  const ids: string[] = accepted.map(({ body }) => body.data.id);
  for (const id of ids) await untilConfirmed(service, node, id);
  await receiver.until('deliveries are under way', (deliveries) => deliveries.length >= 3);
  const before = receiver.deliveries.length;
  const { port } = receiver;
  await Promise.all([service.kill(), receiver.stop()]);

  service = await startService(workspace.env);
  await new Promise((resolve) => setTimeout(resolve, 200));
  receiver = await startReceiver(port);
  const complete = (deliveries: readonly Delivery[]) =>
    ids.every((id) => statusesOf(deliveries, id).includes('confirmed'));
  await receiver.until('all events arrived', complete, 60_000);
  for (const id of ids) {
    const statuses = statusesOf(receiver.deliveries, id);
    // A block that was deep enough when it was first seen is not reported as mined.
    t.strictSame(
      statuses.filter((status) => status !== 'mined'),
      ['sent', 'submitted', 'confirmed'],
    );
    t.strictSame(
      statuses,
      ['sent', 'submitted', 'mined', 'confirmed'].filter((status) => statuses.includes(status)),
    );
  }
  t.ok(before >= 3);
  for (const delivery of receiver.deliveries) {
    t.equal(delivery.headers['x-signature'], signatureOf(delivery, KEY));
    t.strictSame(Object.keys(delivery.json), ['id', 'event', 'payload', 'timestamp']);
  }
  t.strictSame(Object.keys(receiver.deliveries[0]?.json.payload ?? {}), [
    'payload_type',
    'id',
    'hash',
    'status',
    'status_reason',
    'created_at',
    'sent_at',
    'confirmed_at',
    'gas_price',
    'gas_limit',
    'nonce',
    'value',
    'from',
    'to',
    'relayer_id',
    'data',
    'max_fee_per_gas',
    'max_priority_fee_per_gas',
    'signature',
    'speed',
    'is_canceled',
  ]);
  t.notMatch(service.output(), new RegExp(KEY));

  const moved = await service.request('PATCH', '/api/v1/notifications/hook-1', { url: `${receiver.url}/moved` });
  t.equal(moved.status, 400);
  t.match(moved.body.error, /^url: 127\.0\.0\.1 is refused: a loopback address/, 'what a client gives stays outside');
});
