import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls, toError } from '../../../../sandbox/guest/capability-calls.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { GuestHost, replyText } from '../../../support/guest-host.ts';

function open(limit = 10) {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const calls = new CapabilityCalls(link, end);
  end.begin(100);
  calls.begin(limit);
  return { host, end, calls };
}

t.test('settles each call by its number, in any order', async (t) => {
  const { host, calls } = open();
  const first = calls.call('kv.get', () => ({ key: 'a' }));
  const second = calls.call('kv.get', () => ({ key: 'b' }), { accept: (value) => [value] });
  t.strictSame(host.requests, [
    { id: 1, method: 'kv.get', params: { key: 'a' } },
    { id: 2, method: 'kv.get', params: { key: 'b' } },
  ]);
  t.equal(calls.unanswered, 2);
  calls.settle(replyText(2, { ok: true, value: 'B' }));
  calls.settle(replyText(1, { ok: true, value: 'A' }));
  calls.settle(replyText(1, { ok: true, value: 'again' }));
  calls.settle(replyText(99, { ok: true, value: 'nobody' }));
  t.equal(await first, 'A');
  t.strictSame(await second, ['B']);
  t.equal(calls.unanswered, 0);
});

t.test('a refusal rejects with an error', async (t) => {
  const { calls } = open();
  const refused = calls.call('kv.del', () => ({ key: 'a' }));
  calls.settle(
    replyText(1, { ok: false, error: { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } } }),
  );
  const error = await refused.catch((reason: unknown) => reason);
  t.ok(error instanceof Error);
  t.match(error, { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } });
  t.strictSame(Object.keys(toError({ message: 'm' })), [], 'only what the reply has');
  const translated = calls.call('kv.del', () => ({ key: 'a' }), { refuse: () => new RangeError('other') });
  calls.settle(replyText(2, { ok: false, error: { message: 'no' } }));
  await t.rejects(translated, new RangeError('other'));
});

t.test('fields that are no JSON reject with their path, and are not sent', async (t) => {
  const { host, calls } = open();
  const send = (request: unknown) => calls.call('relayer.rpc', () => ({ relayerId: 'r', request }));
  await t.rejects(send({ value: 5n }), new TypeError('request.value is a BigInt'));
  await t.rejects(
    send(() => 1),
    new TypeError('request is a function'),
  );
  await t.rejects(
    calls.call('relayer.rpc', () => {
      throw new Error('thrown by the arguments');
    }),
    new Error('thrown by the arguments'),
  );
  t.strictSame(host.requests, []);
  void send({ dropped: undefined, kept: null, nested: { f() {} } });
  t.strictSame(host.requests[0]?.params, { relayerId: 'r', request: { kept: null, nested: {} } });
});

t.test('the host may refuse to take a call', async (t) => {
  const { host, calls } = open();
  host.refusal = 'too many at once';
  await t.rejects(
    calls.call('kv.get', () => ({ key: 'a' })),
    new Error('too many at once'),
  );
  t.equal(calls.unanswered, 0);
});

t.test('one call too many ends the plugin call', async (t) => {
  const { host, calls } = open(1);
  void calls.call('kv.get', () => ({ key: 'a' }));
  await t.rejects(
    calls.call('kv.get', () => ({ key: 'a' })),
    /more than 1 capability calls \(limits.calls\)/,
  );
  t.match(host.outcome, { kind: 'ended', code: 'CALL_LIMIT' });
  await t.rejects(
    calls.call('kv.get', () => ({ key: 'a' })),
    /kv.get was called after the plugin call had ended/,
  );
  t.equal(host.requests.length, 1);
});

t.test('a new call begins with none', (t) => {
  const { end, calls, host } = open();
  void calls.call('kv.get', () => ({ key: 'a' }));
  end.returned(1);
  end.begin(100);
  calls.begin(10);
  t.equal(calls.unanswered, 0);
  void calls.call('kv.get', () => ({ key: 'b' }));
  t.equal(host.requests.at(-1)?.id, 1);
  t.end();
});
