/** Webhook delivery: what a receiver can do to it, and where it may go. */
import { createHmac, createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { createWebhookClient, type WebhookPost } from '../../../../src/egress/webhook-client.ts';
import { signatureOf, startReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.ts';

const inside = createAddressGuard({ allowedHosts: [], blockPrivate: false });
const outside = createAddressGuard({ allowedHosts: [], blockPrivate: true });
const BODY = '{"id":"1","text":"ünïcode 🚀"}';

async function receiverFor(t: Test): Promise<WebhookReceiver> {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  return receiver;
}

function clientFor(t: Test, totalMs = 5_000) {
  const client = createWebhookClient({ declared: inside, others: outside }, { connectMs: 1_000, totalMs });
  t.teardown(() => client.close());
  return client;
}

const post = (url: string, more: Partial<WebhookPost> = {}): WebhookPost => ({
  url,
  id: '1',
  body: BODY,
  at: 1_732_380_000_999,
  signingKeys: [],
  isDeclared: true,
  ...more,
});

t.test('the body arrives byte for byte, signed when there is a key', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t);
  const key = 'schlüssel';
  t.strictSame(await client.post(post(receiver.url)), { kind: 'delivered', status: 200 });
  const signingKey = createSecretKey(key, 'utf8');
  t.strictSame(await client.post(post(receiver.url, { signingKeys: [signingKey] })), {
    kind: 'delivered',
    status: 200,
  });
  const [plain, signed] = receiver.deliveries;
  t.equal(plain?.bytes.toString(), BODY);
  t.match(plain?.headers, {
    'content-type': 'application/json',
    'x-signature': undefined,
    'webhook-signature': undefined,
  });
  t.equal(signed?.headers['x-signature'], signed && signatureOf(signed, key));
  const [, form = '', ...more] = /^(v1),(.*)$/.exec(String(signed?.headers['webhook-signature'])) ?? [];
  t.strictSame([signed?.headers['webhook-id'], signed?.headers['webhook-timestamp'], form], ['1', '1732380000', 'v1']);
  t.equal(more[0], createHmac('sha256', key).update(`1.1732380000.${BODY}`).digest('base64'));
  t.match(signed?.headers['x-signature'], /^[A-Za-z0-9+/]{43}=$/, 'padded standard base64');
});

t.test('while keys change there is a signature by each, the first one in the form of the reference', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t);
  const signingKeys = ['old', 'new'].map((key) => createSecretKey(key, 'utf8'));
  await client.post(post(receiver.url, { signingKeys }));
  const [delivery] = receiver.deliveries;
  const expected = ['old', 'new'].map(
    (key) => `v1,${createHmac('sha256', key).update(`1.1732380000.${BODY}`).digest('base64')}`,
  );
  t.equal(delivery?.headers['webhook-signature'], expected.join(' '));
  t.equal(delivery?.headers['x-signature'], delivery && signatureOf(delivery, 'old'));
});

t.test('any 2xx is a delivery, everything else is not, and a redirect is not followed', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t);
  for (const status of [200, 201, 204, 299]) {
    receiver.answer = () => ({ status });
    t.strictSame(await client.post(post(receiver.url)), { kind: 'delivered', status });
  }
  for (const status of [300, 400, 404, 410, 429, 500, 503]) {
    receiver.answer = () => ({ status });
    t.strictSame(await client.post(post(receiver.url)), { kind: 'rejected', status });
  }
  const before = receiver.deliveries.length;
  for (const location of ['http://169.254.169.254/latest/meta-data/', receiver.url]) {
    receiver.answer = () => ({ status: 307, headers: { location } });
    t.match(await client.post(post(receiver.url)), { kind: 'rejected', status: 307, redirect: / not followed/ });
  }
  t.equal(receiver.deliveries.length, before + 2);
});

t.test('a receiver that hangs, drips or cuts the connection costs its time limit and no more', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t, 150);
  for (const behaviour of ['hang', 'drip'] as const) {
    receiver.answer = () => behaviour;
    t.match(await client.post(post(receiver.url)), { kind: 'timeout', reason: 'no answer within 150 ms' });
  }
  receiver.answer = () => 'reset';
  t.match(await client.post(post(receiver.url)), { kind: 'transport', reason: /^connection failed/ });
  await receiver.stop();
  t.match(await client.post(post(receiver.url)), { kind: 'transport', reason: 'connection failed (ECONNREFUSED)' });
});

t.test('the status counts; a body without end is not waited for, and its connection is closed', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t);
  receiver.answer = () => 'endless';
  t.strictSame(await client.post(post(receiver.url)), { kind: 'delivered', status: 200 });
  receiver.answer = () => ({ status: 200 });
  t.strictSame(await client.post(post(receiver.url)), { kind: 'delivered', status: 200 });
});

t.test('an address inside is called only when it was declared; the metadata service never', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = clientFor(t);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433']) {
    const answer = await client.post(post(`http://${host}:${port}/secret-path`, { isDeclared: false }));
    t.equal(answer.kind, 'blocked', host);
    t.notMatch(JSON.stringify(answer), /secret-path/);
  }
  t.equal(connections, 0);
  t.match(await client.post(post('http://169.254.169.254/latest')), {
    kind: 'blocked',
    reason: '169.254.169.254 is refused: a link-local address',
  });
  t.equal((await client.post(post(`http://127.0.0.1:${port}/`))).kind, 'transport', 'declared: it was called');
  t.equal(connections, 1);
});

t.test('a connection that was opened for a declared address does not serve another', async (t) => {
  const receiver = await receiverFor(t);
  const client = clientFor(t);
  t.equal((await client.post(post(receiver.url))).kind, 'delivered');
  t.equal((await client.post(post(receiver.url, { isDeclared: false }))).kind, 'blocked');
  t.equal(receiver.deliveries.length, 1);
});

t.test('a closed client says so, and closing twice is fine', async (t) => {
  const receiver = await receiverFor(t);
  const client = createWebhookClient({ declared: inside, others: outside });
  await client.close();
  await client.close();
  t.match(await client.post(post(receiver.url)), { kind: 'transport' });
  t.equal(receiver.deliveries.length, 0);
});
