// Threat: somebody without the secret has a plugin called, fills the store, or stops whoever has the secret.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { pluginEntrySchema } from '../../../../../src/features/plugins/records/plugin.ts';
import { MAX_WEBHOOK_BYTES } from '../../../../../src/features/triggers/operations.ts';
import { createTriggersService } from '../../../../../src/features/triggers/triggers.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { startHttp } from '../../../../support/http-server.ts';
import { RecordedMetrics } from '../../../../support/recorded-metrics.ts';
import { storeFor } from '../../../../support/store.ts';

const SECRET = 'a secret that is long enough to be one';
const BY = { keyId: 'k', requestId: 'r' };

async function stage(t: Test, more: object = {}, now?: () => number) {
  const opened = await storeFor(t);
  const store: Store = now === undefined ? opened : { ...opened, now: async () => now() };
  const trigger = { name: 'alert', on: 'webhook', secret: { type: 'plain', value: SECRET }, ...more };
  const plugin = pluginEntrySchema.parse({
    id: 'p',
    path: 'p.ts',
    triggers: [trigger, { name: 'often', every: '1h' }],
  });
  const service = createTriggersService({
    store,
    declared: () => [plugin],
    secret: ({ value }) => value,
    calls: { wake: () => undefined },
    changed: () => undefined,
    newId: randomUUID,
    metrics: new RecordedMetrics(),
  });
  const receive = (body: string, headers: Record<string, string> = signed(body), name = 'alert', id = 'p') =>
    service.receive(id, name, { body: Buffer.from(body), header: (one) => headers[one], headers: { 'x-kind': 'a' } });
  const calls = async () => (await store.read.calls('p', { page: 1, perPage: 100 }, {})).items;
  return { store, plugin, service, receive, calls };
}

function signed(body: string, secret = SECRET): Record<string, string> {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

t.test('10,000 hostile webhooks, and one that is right', async (t) => {
  const { receive, calls, store } = await stage(t);
  const right = signed('{"a":1}');
  const hostile = [
    () => receive('{"a":1}', {}),
    () => receive('{"a":2}', right),
    () => receive('{"a":1} ', right),
    () => receive('{"a":1}', signed('{"a":1}', 'another secret')),
    () => receive('{"a":1}', signed('{"a":1}', '')),
    () => receive('{"a":1}', { 'x-hub-signature-256': `sha256=${randomBytes(32).toString('hex')}` }),
    () => receive('{"a":1}', { 'x-signature': randomBytes(32).toString('base64') }),
    () => receive('{"a":1}', { ...right, 'webhook-signature': 'v1,' }),
    () => receive('{"a":1}', right, 'often'),
    () => receive('{"a":1}', right, 'alert', 'other'),
  ];
  let refused = 0;
  for (let count = 0; count < 10_000; count += 1) {
    await hostile[count % hostile.length]?.().catch((error: { code?: string }) => {
      if (error.code === 'WEBHOOK_REFUSED') refused += 1;
    });
  }
  t.equal(refused, 10_000);
  t.strictSame(await calls(), []);
  t.equal(await store.write((writer) => writer.pruneTriggerDeliveries(Number.MAX_SAFE_INTEGER, 10)), 0);
  t.match(await receive('{"a":1}'), { accepted: true, repeated: false });
  const [call] = await calls();
  t.match(call, { keyId: 'trigger:p/alert', trigger: { name: 'alert', depth: 1 } });
  t.strictSame(call?.request.event, { headers: { 'x-kind': 'a' }, body: { a: 1 } });
});

t.test('a delivery that is repeated makes no second call', async (t) => {
  const { receive, calls } = await stage(t);
  await receive('{"a":1}', { ...signed('{"a":1}'), 'x-github-delivery': 'd1' });
  t.match(await receive('{"a":1}', { ...signed('{"a":1}'), 'x-github-delivery': 'd1' }), { repeated: true });
  t.match(
    await receive('{"a":1}', { ...signed('{"a":1}'), 'x-github-delivery': 'd2' }),
    { repeated: true },
    'another id',
  );
  t.match(
    await receive('{"a":2}', { ...signed('{"a":2}'), 'x-github-delivery': 'd1' }),
    { repeated: true },
    'the same id',
  );
  t.match(await receive('not JSON'), { repeated: false });
  const made = await calls();
  t.equal(made.length, 2);
  t.match(made[0]?.request.event, { body: 'not JSON' });
});

t.test('at_most, and a delivery that was refused for it comes again', async (t) => {
  let now = 1_000_000;
  const { receive, calls } = await stage(t, { at_most: '1/s' }, () => now);
  await receive('1');
  now += 900;
  await t.rejects(receive('2'), { code: 'TOO_MANY_REQUESTS' });
  now += 100;
  t.match(await receive('2'), { repeated: false });
  t.equal((await calls()).length, 2);
});

t.test('fire, pause and resume, with their audit records', async (t) => {
  const { service, plugin, receive, calls, store } = await stage(t);
  t.match(await service.pause(plugin, 'alert', BY), { state: 'paused', next_at: null });
  await t.rejects(receive('1'), { code: 'TRIGGER_PAUSED' });
  const { call_id: id } = await service.fire(plugin, 'alert', { by: 'hand' }, BY);
  t.match((await calls())[0], { id, request: { event: { by: 'hand' } } });
  t.match(await service.resume(plugin, 'alert', BY), { state: 'active', fired: 1, last_call: id });
  t.match(await receive('1'), { repeated: false });
  await t.rejects(service.fire(plugin, 'nobody', undefined, BY), { code: 'TRIGGER_NOT_FOUND' });
  const [alert, often] = await service.views(plugin);
  t.match(alert, { name: 'alert', kind: 'webhook', state: 'active', fired: 2 });
  t.match(often, { name: 'often', kind: 'every', every: '1h', last_call: null });
  t.notMatch(JSON.stringify([alert, often]), SECRET);
  const { items } = await store.read.auditRecords({ limit: 10, before: null }, {});
  t.strictSame(
    items.map(({ action }) => action),
    ['resume', 'fire', 'pause'],
  );
});

t.test('over HTTP: no key, the raw bytes, a bound, and a rate of its own', async (t) => {
  const { url, services } = await startHttp(t);
  const bodies: string[] = [];
  services.triggers.receive = async (_plugin, _name, hook) => {
    bodies.push(Buffer.from(hook.body).toString());
    t.strictSame(
      Object.keys(hook.headers).filter((name) => /signature|authorization|cookie/.test(name)),
      [],
    );
    t.equal(hook.header('x-signature'), 'x');
    return { accepted: true, repeated: false };
  };
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/v1/hooks/p/alert`, {
      method: 'POST',
      body,
      headers: { 'x-signature': 'x', cookie: 'c', ...headers },
    });
  const exact = '{ "a" : 1.0 , "ü":"\\u00e4" }\n';
  t.equal((await post(exact)).status, 202);
  t.equal(
    (await post(exact, { 'content-type': 'text/plain', 'idempotency-key': 'k', authorization: 'Bearer x' })).status,
    202,
  );
  t.strictSame(bodies, [exact, exact]);
  t.equal((await post('x'.repeat(MAX_WEBHOOK_BYTES + 1))).status, 413);
  t.equal((await post('')).headers.get('ratelimit-limit'), '100', 'an address has a rate of its own, whatever its key');
});
