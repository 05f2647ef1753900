import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../sandbox/guest/capability-calls.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { createKv } from '../../../../sandbox/guest/kv.ts';
import { GuestHost, replyText } from '../../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const calls = new CapabilityCalls(link, end);
  end.begin(100);
  calls.begin(100);
  return { host, calls, kv: createKv(calls) };
}

t.test('each method is one capability, also when taken off its object', async (t) => {
  const { host, calls, kv } = open();
  const { get, set, del, exists } = kv;
  const got = get('a:b-c_D9');
  void set('k', { a: [1] }, { ttlSec: 0.5 });
  void del('k');
  void exists('k');
  t.strictSame(
    host.requests.map(({ method, params }) => [method, params]),
    [
      ['kv.get', { key: 'a:b-c_D9' }],
      ['kv.set', { key: 'k', value: { a: [1] }, ttlSec: 0.5 }],
      ['kv.del', { key: 'k' }],
      ['kv.exists', { key: 'k' }],
    ],
  );
  calls.settle(replyText(1, { ok: true, value: { stored: true } }));
  t.strictSame(await got, { stored: true });
  t.strictSame(Object.keys(kv), ['get', 'set', 'del', 'exists'], 'nothing is offered that does not work');
});

t.test('refuses keys and values that cannot be stored', async (t) => {
  const { host, kv } = open();
  for (const key of ['', 'a.b', 'a/b', 'a b', 'é', 'x'.repeat(513), 'a\n', undefined, 5] as string[]) {
    for (const call of [() => kv.get(key), () => kv.set(key, 1), () => kv.del(key), () => kv.exists(key)]) {
      await t.rejects(call(), new Error('invalid key'));
    }
  }
  await t.rejects(kv.set('k', undefined), new Error('value must not be undefined'));
  await t.rejects(kv.set('k', { a: 1n }), new TypeError('value.a is a BigInt'));
  await t.rejects(
    kv.set('k', () => 1),
    new TypeError('value is a function'),
  );
  t.strictSame(host.requests, []);
  void kv.set('x'.repeat(512), null);
  t.match(host.requests[0]?.params, { value: null });
});

t.test('a lifetime that is not a positive number is none', (t) => {
  const { host, kv } = open();
  const lifetimes = [undefined, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, {}, '30', 1.5];
  for (const ttlSec of lifetimes) void kv.set('k', 1, { ttlSec: ttlSec as number });
  t.strictSame(
    host.requests.map(({ params }) => (params as { ttlSec?: number }).ttlSec),
    [undefined, undefined, undefined, undefined, undefined, undefined, undefined, 30, 1.5],
  );
  t.end();
});
