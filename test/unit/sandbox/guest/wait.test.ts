import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../sandbox/guest/capability-calls.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { PluginError } from '../../../../sandbox/guest/plugin-error.ts';
import { waitForTransaction } from '../../../../sandbox/guest/relayer.ts';
import { GuestHost, replyText } from '../../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const calls = new CapabilityCalls(link, end);
  end.begin(100);
  calls.begin(100);
  const wait = (options?: object | null) =>
    waitForTransaction(calls.ofRunning(), () => ({ relayerId: 'r', transactionId: 't1' }), options);
  return { host, calls, wait };
}

t.test('asks with the usual interval and time, which 0 replaces too', (t) => {
  const { host, wait } = open();
  void wait();
  void wait(null);
  void wait({ interval: 0, timeout: 0 });
  void wait({ timeout: Number.POSITIVE_INFINITY });
  t.strictSame(
    host.requests.map(({ method, params }) => [method, params]),
    [
      ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', interval: 5000, timeout: 60000 }],
      ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', interval: 5000, timeout: 60000 }],
      ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', interval: 0, timeout: 0 }],
      ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', interval: 5000, timeout: 2 ** 31 - 1 }],
    ],
  );
  t.end();
});

t.test('resolves with the transaction, also when it failed', async (t) => {
  const { calls, wait } = open();
  const waited = wait();
  calls.settle(replyText(1, { ok: true, value: { id: 't1', status: 'failed' } }));
  t.strictSame(await waited, { id: 't1', status: 'failed' });
});

t.test('taking too long is a PluginError, another refusal is not', async (t) => {
  const { calls, wait } = open();
  const late = wait({ timeout: 250 });
  calls.settle(replyText(1, { ok: false, error: { message: 'late', code: 'TIMEOUT', status: 504 } }));
  const error = await late.catch((reason: unknown) => reason);
  t.ok(error instanceof PluginError);
  t.match(error, { message: 'Transaction t1 timed out after 250ms', status: 504, code: undefined });

  const refused = wait();
  calls.settle(replyText(2, { ok: false, error: { message: 'no such transaction', status: 404 } }));
  await t.rejects(refused, { message: 'no such transaction', name: 'Error' });
});

t.test('refuses what is no time', async (t) => {
  const { host, wait } = open();
  for (const bad of [-1, Number.NaN, '5']) {
    await t.rejects(wait({ interval: bad }), new TypeError('interval is not a number of milliseconds'));
    await t.rejects(wait({ timeout: bad }), new TypeError('timeout is not a number of milliseconds'));
  }
  t.strictSame(host.requests, []);
});
