import t from 'tap';
import { invalidRequest } from '../../../../../../../src/domain/errors.ts';
import { bound, PluginServices } from '../../../../../../support/plugin-services.ts';
import { principalOf } from '../../../../../../support/principal.ts';

const principal = principalOf();
const services = new PluginServices();
const withRequest = { relayerId: 'known', request: { to: '0x1', value: 1 } };

t.test('each method needs its right, and says whether it may change something', async (t) => {
  const prepared = {
    send: bound(services, 'relayer.sendTransaction').prepare(withRequest),
    get: bound(services, 'relayer.getTransaction').prepare({ relayerId: 'known', transactionId: 'tx-1' }),
    wait: bound(services, 'relayer.waitTransaction').prepare({ relayerId: 'known', transactionId: 'tx-1' }),
    relayer: bound(services, 'relayer.getRelayer').prepare({ relayerId: 'known' }),
    status: bound(services, 'relayer.getRelayerStatus').prepare({ relayerId: 'known' }),
    sign: bound(services, 'relayer.signTransaction').prepare(withRequest),
    rpc: bound(services, 'relayer.rpc').prepare({ relayerId: 'known', request: { method: 'eth_chainId' } }),
  };
  t.same(
    Object.entries(prepared).map(([name, { need, effect, trace }]) => [name, need, effect, trace?.method]),
    [
      ['send', { relayer: 'known', right: 'send' }, true, 'sendTransaction'],
      ['get', { relayer: 'known', right: 'read' }, false, 'getTransaction'],
      ['wait', { relayer: 'known', right: 'read' }, false, 'transactionWait'],
      ['relayer', { relayer: 'known', right: 'read' }, false, 'getRelayer'],
      ['status', { relayer: 'known', right: 'read' }, false, 'getRelayerStatus'],
      ['sign', { relayer: 'known', right: 'sign' }, true, 'signTransaction'],
      ['rpc', { relayer: 'known', right: 'rpc', acts: false }, false, 'rpc'],
    ],
  );
  t.same(prepared.send.trace, { method: 'sendTransaction', relayerId: 'known', payload: withRequest.request });
  t.same(prepared.wait.trace?.payload, { transactionId: 'tx-1', interval: 5000, timeout: 60_000 });
  t.same(prepared.get.trace?.payload, { transactionId: 'tx-1' });
  t.same([prepared.relayer.trace?.payload, prepared.status.trace?.payload], [{}, {}]);
  t.same(prepared.rpc.trace?.payload, { method: 'eth_chainId' });
  t.match(await prepared.send.run(principal), { id: 'tx-1' });
  t.match(await prepared.get.run(principal), { id: 'tx-1', status: 'mined' });
  t.match(await prepared.relayer.run(principal), { id: 'known' });
  t.match(await prepared.status.run(principal), { balance: '1' });
  t.same(await prepared.rpc.run(principal), { jsonrpc: '2.0', result: '0x1', id: 1 });
  t.throws(() => prepared.sign.run(principal), /sign_transaction/);
});

t.test('an rpc method that may put something on a chain is an effect, and so is one we cannot read', async (t) => {
  const effect = (request: unknown) => bound(services, 'relayer.rpc').prepare({ relayerId: 'known', request }).effect;
  t.same(
    ['eth_call', 'eth_getLogs', 'net_version'].map((method) => effect({ method })),
    [false, false, false],
  );
  t.same(
    ['eth_sendRawTransaction', 'sendTransaction', 'anvil_setBalance', 'eth_sign'].map((method) => effect({ method })),
    [true, true, true, true],
  );
  t.same([effect({}), effect([]), effect('x'), effect(null), effect({ method: 1 })], [true, true, true, true, true]);
});

t.test('methods of a family’s own that sign or send need these rights, and limits hold for what is sent', async (t) => {
  const need = (method: string) =>
    bound(services, 'relayer.rpc').prepare({ relayerId: 'known', request: { method } }).need;
  t.same(need('feeEstimate'), { relayer: 'known', right: 'rpc', acts: false });
  t.same(need('prepareTransaction'), { relayer: 'known', right: 'sign' });
  t.same(need('signAndSendTransaction'), { relayer: 'known', right: 'send' });
  const seen: unknown[] = [];
  const spender = { pluginId: 'p', caveats: {} };
  const watched = Object.assign(new PluginServices(), {
    rpc: { ...services.rpc, call: async (...args: unknown[]) => (seen.push(args), { jsonrpc: '2.0' as const }) },
  });
  const request = { method: 'signAndSendTransaction' };
  const ready = bound(watched, 'relayer.rpc').prepare({ relayerId: 'known', request });
  await ready.run({ ...principal, spender: () => spender });
  await ready.run({ ...principal, maySend: () => false });
  t.same(seen, [
    ['known', request, { effect: principal.effect, actor: principal.actor, spender, maySpend: true }],
    ['known', request, { effect: principal.effect, actor: principal.actor, spender: undefined, maySpend: false }],
  ]);
});

t.test('wait resolves with the transaction, or says after how long it gave up', async (t) => {
  const wait = (more: object) =>
    bound(services, 'relayer.waitTransaction').prepare({ relayerId: 'known', transactionId: 'tx-1', ...more });
  t.match(await wait({ interval: 500, timeout: 1000 }).run(principal), { status: 'mined' });
  const error = await wait({ timeout: 0 })
    .run(principal)
    .catch((reason: unknown) => reason);
  t.match(error, { name: 'WaitTimeout', message: 'Transaction tx-1 timed out after 0ms', status: 504 });
  t.throws(() => wait({ timeout: -1 }));
  t.throws(() => wait({ interval: 'soon' }));
});

t.test('a refused payload has the prefix that plugins know', async (t) => {
  const error = invalidRequest('bad');
  t.equal(bound(services, 'relayer.sendTransaction').failure(error), 'Relayer error: Bad Request: bad');
  t.equal(bound(services, 'relayer.getTransaction').failure(error), 'Invalid payload: bad');
  t.equal(bound(services, 'relayer.rpc').failure(error), 'Invalid payload: Bad Request: bad');
});

t.test('parameters without relayer or request are refused', async (t) => {
  for (const params of [{}, { relayerId: '' }, { relayerId: 1, request: {} }, { relayerId: 'known' }, null, 'x']) {
    t.throws(() => bound(services, 'relayer.sendTransaction').prepare(params), JSON.stringify(params));
  }
});
