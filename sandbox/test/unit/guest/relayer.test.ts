import t from 'tap';
import type { Json } from '../../../contract.ts';
import { CallEnd } from '../../../guest/call-end.ts';
import { CapabilityCalls } from '../../../guest/capability-calls.ts';
import { HostLink } from '../../../guest/host-link.ts';
import { PluginError } from '../../../guest/plugin-error.ts';
import { createApi, waitForTransaction } from '../../../guest/relayer.ts';
import { GuestHost } from '../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const calls = new CapabilityCalls(link, end);
  end.begin(100);
  calls.begin(100);
  const answer = (value: Json) => calls.settle(host.requests.at(-1)?.id ?? 0, { ok: true, value });
  return { host, answer, api: createApi(calls.ofRunning()) };
}

t.test('each method is one capability, also when taken off its object', async (t) => {
  const { host, answer, api } = open();
  const { useRelayer } = api;
  const { sendTransaction, getTransaction, getRelayer, getRelayerStatus, signTransaction, rpc } = useRelayer('r1');
  const started: [Promise<unknown>, string, Json][] = [
    [sendTransaction({ to: '0x1', wait: () => 1 }), 'sendTransaction', { request: { to: '0x1' } }],
    [getTransaction({ transactionId: 't1' }), 'getTransaction', { transactionId: 't1' }],
    [getRelayer(), 'getRelayer', {}],
    [getRelayerStatus(), 'getRelayerStatus', {}],
    [signTransaction({ unsigned_xdr: 'AAA' }), 'signTransaction', { request: { unsigned_xdr: 'AAA' } }],
    [rpc({ method: 'eth_chainId', params: [] }), 'rpc', { request: { method: 'eth_chainId', params: [] } }],
  ];
  t.strictSame(
    host.requests.map(({ method, params }) => [method, params]),
    started.map(([, method, params]) => [`relayer.${method}`, { relayerId: 'r1', ...(params as object) }]),
  );
  answer({ jsonrpc: '2.0', result: '0x1' });
  t.strictSame(await started[5]?.[0], { jsonrpc: '2.0', result: '0x1' });
});

t.test('what was sent can be waited for', async (t) => {
  const { host, answer, api } = open();
  const sending = api.useRelayer('r1').sendTransaction({ to: '0x1' });
  answer({ id: 't1', status: 'pending', hash: null });
  const sent = await sending;
  t.strictSame(Object.keys(sent), ['id', 'status', 'hash', 'wait']);
  t.equal(JSON.stringify(sent), '{"id":"t1","status":"pending","hash":null}');
  const { wait } = sent;
  void wait({ interval: 1, timeout: 2 });
  t.strictSame(host.requests.at(-1)?.params, { relayerId: 'r1', transactionId: 't1', interval: 1, timeout: 2 });
});

t.test('transactionWait knows the relayer from the transaction, or from where the transaction came', async (t) => {
  const { host, answer, api } = open();
  const { transactionWait } = api;
  void transactionWait({ id: 't1', relayer_id: 'r2' });
  t.match(host.requests.at(-1)?.params, { relayerId: 'r2', transactionId: 't1' });

  const solana = api.useRelayer('sol');
  const sending = solana.sendTransaction({ transaction: 'AA' });
  answer({ id: 't2', status: 'pending' });
  void transactionWait(await sending);
  t.match(host.requests.at(-1)?.params, { relayerId: 'sol', transactionId: 't2' });

  const getting = solana.getTransaction({ transactionId: 't3' });
  answer({ id: 't3', status: 'sent' });
  void transactionWait(await getting);
  t.match(host.requests.at(-1)?.params, { relayerId: 'sol', transactionId: 't3' });

  await t.rejects(transactionWait({ id: 't4' }), new TypeError('transaction.relayer_id is not a non-empty string'));
});

t.test('bad arguments reject and never throw', async (t) => {
  const { host, api } = open();
  const nothing = undefined as never;
  await t.rejects(api.useRelayer(nothing).getRelayer(), new TypeError('relayerId is not a non-empty string'));
  await t.rejects(api.useRelayer('r').sendTransaction(nothing), new TypeError('request is missing'));
  await t.rejects(api.useRelayer('r').rpc(nothing), new TypeError('request is missing'));
  await t.rejects(
    api.useRelayer('r').getTransaction(nothing),
    new TypeError('transactionId is not a non-empty string'),
  );
  await t.rejects(api.transactionWait(nothing), TypeError);
  await t.rejects(api.useRelayer('r').sendTransaction({ value: 1n }), new TypeError('request.value is a BigInt'));
  t.strictSame(host.requests, []);
});

t.test('wait', async (t) => {
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

  t.test('leaves the usual interval and time to the service', (t) => {
    const { host, wait } = open();
    void wait();
    void wait(null);
    void wait({ interval: 0, timeout: 0 });
    void wait({ timeout: Number.POSITIVE_INFINITY });
    t.strictSame(
      host.requests.map(({ method, params }) => [method, params]),
      [
        ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1' }],
        ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1' }],
        ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', interval: 0, timeout: 0 }],
        ['relayer.waitTransaction', { relayerId: 'r', transactionId: 't1', timeout: 2 ** 43 }],
      ],
    );
    t.end();
  });

  t.test('resolves with the transaction, also when it failed', async (t) => {
    const { calls, wait } = open();
    const waited = wait();
    calls.settle(1, { ok: true, value: { id: 't1', status: 'failed' } });
    t.strictSame(await waited, { id: 't1', status: 'failed' });
  });

  t.test('taking too long is a PluginError, another refusal is not', async (t) => {
    const { calls, wait } = open();
    const late = wait({ timeout: 250 });
    calls.settle(1, { ok: false, error: { message: 'Transaction t1 timed out after 250ms', status: 504 } });
    const error = await late.catch((reason: unknown) => reason);
    t.ok(error instanceof PluginError);
    t.match(error, { message: 'Transaction t1 timed out after 250ms', status: 504, code: undefined });

    const refused = wait();
    calls.settle(2, { ok: false, error: { message: 'no such transaction', status: 404 } });
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
});
