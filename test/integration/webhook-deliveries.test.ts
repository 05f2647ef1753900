/** Events that a receiver did not take: how operators see them, and deliver them again. */
import { createHmac } from 'node:crypto';
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { signatureOf, startReceiver } from '../support/webhook-receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

const KEY = 'a key of at least thirty-two bytes, for tests';
const NEXT = 'the next key of at least thirty-two bytes';
const DELIVERIES = '/api/v1/notifications/hook/deliveries';

const receiver = await startReceiver();
t.teardown(() => receiver.stop());
const workspace = await createWorkspace({
  // Nothing listens there. So the relayer is disabled at the start, and that is an event.
  rpcUrl: 'http://127.0.0.1:1/',
  relayer: { notification_id: 'hook' },
  config: {
    notifications: [
      { id: 'hook', type: 'webhook', url: receiver.url, signing_key: { type: 'plain', value: KEY } },
      { id: 'other', type: 'webhook', url: receiver.url },
    ],
  },
});
t.teardown(() => workspace.remove());

t.test('a missed event is seen, delivered by hand, and once more under both keys', async (t) => {
  receiver.answer = () => ({ status: 500 });
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  await receiver.until('it was tried', (deliveries) => deliveries.length > 0);
  const look = async (query = '') => (await service.request('GET', `${DELIVERIES}${query}`)).body;
  while ((await look()).data[0]?.outcome === null) await new Promise((resolve) => setTimeout(resolve, 10));
  const waiting = await look('?state=waiting');
  t.match(waiting, {
    data: [{ event: 'relayer_state_update', relayer_id: 'local-1', state: 'waiting', outcome: 'HTTP 500' }],
    pagination: { per_page: 10, next_cursor: null },
  });
  t.strictSame((await look('?state=dead')).data, []);
  const { id } = waiting.data[0];
  const one = async () => (await service.request('GET', `${DELIVERIES}/${id}`)).body.data;
  t.equal((await one()).body, receiver.deliveries[0]?.bytes.toString(), 'the exact text');
  t.equal((await service.request('GET', `/api/v1/notifications/other/deliveries/${id}`)).status, 404);
  t.notMatch(JSON.stringify([waiting, await one()]), receiver.url, 'the address is in none of it');

  receiver.answer = () => ({ status: 200 });
  const again = async () => {
    const before = receiver.deliveries.length;
    const answer = await service.request('POST', `${DELIVERIES}/${id}/redeliver`);
    t.match(answer, { status: 200, body: { data: { id, state: 'waiting' } } });
    await receiver.until('it arrives', ({ length }) => length > before);
    while ((await one()).state !== 'delivered') await new Promise((resolve) => setTimeout(resolve, 10));
    return receiver.deliveries.at(-1);
  };
  const first = await again();
  t.equal(first?.json.id, id);
  t.match(await one(), { state: 'delivered', outcome: 'HTTP 200', next_try_at: null });

  const rotate = await service.request('PATCH', '/api/v1/notifications/hook', { second_signing_key: NEXT });
  t.match(rotate, { status: 200, body: { data: { has_signing_key: true, has_second_signing_key: true } } });
  t.notMatch(JSON.stringify(rotate.body), NEXT);
  const second = await again();
  t.equal(second?.bytes.toString(), first?.bytes.toString());
  t.equal(second?.headers['x-signature'], second && signatureOf(second, KEY), 'as the reference has it');
  const { 'webhook-timestamp': at, 'webhook-signature': signatures } = second?.headers ?? {};
  const expected = [KEY, NEXT].map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${at}.${second?.bytes}`).digest('base64')}`,
  );
  t.equal(signatures, expected.join(' '));
  t.ok(Math.abs(Date.now() / 1000 - Number(at)) < 60);

  const made = await service.request('POST', '/api/v1/api-keys', {
    name: 'elsewhere',
    permissions: ['notifications:write', 'relayers:other:read'],
  });
  const authorization = `Bearer ${made.body.data.key}`;
  const hidden = await fetch(`${service.url}${DELIVERIES}`, { headers: { authorization } });
  t.match(await hidden.json(), { data: { length: 0 } }, 'of relayers that a key does not see it sees no events');
  const audit = await service.request('GET', '/api/v1/audit?resource=delivery');
  t.match(audit.body.data, [{ action: 'redeliver', resource_id: id, key_id: 'default' }, { action: 'redeliver' }]);
});
