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
  return { host, end, calls, call: calls.ofRunning().call };
}

t.test('settles each call by its number, in any order', async (t) => {
  const { host, calls, call } = open();
  const first = call('kv.get', () => ({ key: 'a' }));
  const second = call('kv.get', () => ({ key: 'b' }), { accept: (value) => [value] });
  t.strictSame(host.requests, [
    { id: 1, method: 'kv.get', params: { key: 'a' } },
    { id: 2, method: 'kv.get', params: { key: 'b' } },
  ]);
  calls.settle(replyText(2, { ok: true, value: 'B' }));
  calls.settle(replyText(1, { ok: true, value: 'A' }));
  calls.settle(replyText(1, { ok: true, value: 'again' }));
  calls.settle(replyText(99, { ok: true, value: 'nobody' }));
  t.equal(await first, 'A');
  t.strictSame(await second, ['B']);
});

t.test('a refusal rejects with an error', async (t) => {
  const { calls, call } = open();
  const refused = call('kv.del', () => ({ key: 'a' }));
  calls.settle(
    replyText(1, { ok: false, error: { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } } }),
  );
  const error = await refused.catch((reason: unknown) => reason);
  t.ok(error instanceof Error);
  t.match(error, { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } });
  t.strictSame(Object.keys(toError({ message: 'm' })), [], 'only what the reply has');
  const translated = call('kv.del', () => ({ key: 'a' }), { refuse: () => new RangeError('other') });
  calls.settle(replyText(2, { ok: false, error: { message: 'no' } }));
  await t.rejects(translated, new RangeError('other'));
});

t.test('fields that are no JSON reject with their path, and are not sent', async (t) => {
  const { host, call } = open();
  const send = (request: unknown) => call('relayer.rpc', () => ({ relayerId: 'r', request }));
  await t.rejects(send({ value: 5n }), new TypeError('request.value is a BigInt'));
  await t.rejects(
    send(() => 1),
    new TypeError('request is a function'),
  );
  await t.rejects(
    call('relayer.rpc', () => {
      throw new Error('thrown by the arguments');
    }),
    new Error('thrown by the arguments'),
  );
  t.strictSame(host.requests, []);
  void send({ dropped: undefined, kept: null, nested: { f() {} } });
  t.strictSame(host.requests[0]?.params, { relayerId: 'r', request: { kept: null, nested: {} } });
});

t.test('the host may refuse to take a call', async (t) => {
  const { host, call } = open();
  host.refusal = 'too many at once';
  await t.rejects(
    call('kv.get', () => ({ key: 'a' })),
    new Error('too many at once'),
  );
});

t.test('one call too many ends the plugin call', async (t) => {
  const { host, call } = open(1);
  void call('kv.get', () => ({ key: 'a' }));
  await t.rejects(
    call('kv.get', () => ({ key: 'a' })),
    /more than 1 capability calls \(limits.calls\)/,
  );
  t.match(host.outcome, { kind: 'ended', code: 'CALL_LIMIT' });
  t.ok(host.retired, 'the handler goes on');
  await t.rejects(
    call('kv.get', () => ({ key: 'a' })),
    /kv.get was called after the plugin call had ended/,
  );
  t.equal(host.requests.length, 1);
});

t.test('a new call begins with none', async (t) => {
  const { end, calls, host, call } = open(1);
  void call('kv.get', () => ({ key: 'a' }));
  end.returned(end.number, 1);
  end.begin(100);
  calls.begin(1);
  const next = calls.ofRunning().call('kv.get', () => ({ key: 'b' }));
  t.equal(host.requests.at(-1)?.id, 1);
  calls.settle(replyText(1, { ok: true, value: 'B' }));
  t.equal(await next, 'B');
});

t.test('what belongs to an ended call is refused, also while another one runs, and retires the isolate', async (t) => {
  const { end, calls, host, call } = open();
  end.returned(end.number, 1);
  end.begin(100);
  calls.begin(10);
  void calls.ofRunning().call('kv.get', () => ({ key: 'mine' }));
  t.notOk(host.retired);
  await t.rejects(
    call('kv.set', () => ({ key: 'a', ttlSec: undefined })),
    /kv.set was called after the plugin call had ended/,
  );
  t.ok(host.retired);
  t.equal(host.requests.length, 1);
});

t.test('what a module asks for while it is evaluated is refused, and retires nothing', async (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const calls = new CapabilityCalls(link, new CallEnd(link));
  await t.rejects(
    calls.ofRunning().call('kv.get', () => ({ key: 'a' })),
    /kv.get was called/,
  );
  t.notOk(host.retired);
});

t.test('an error that comes with an answer has the stack of its question', async (t) => {
  const { host, call, calls } = open();
  async function asksForKey() {
    return await call('kv.get', () => ({ key: 'a' }));
  }
  const asked = asksForKey();
  calls.settle(replyText(host.requests.at(-1)?.id ?? 0, { ok: false, error: { message: 'no key', code: 'C' } }));
  const error = await asked.catch((thrown: unknown) => thrown as Error);
  t.match(error, { message: 'no key', code: 'C', stack: /^Error: no key\n[^]*at asksForKey \(/ });
  t.notOk(Object.keys(error as Error).includes('stack'));
});
