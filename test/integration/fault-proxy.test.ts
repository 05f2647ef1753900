/**
 * The fault proxy that the soaks put before a node: it makes the faults that it should, and no others. A soak behind a
 * proxy without faults would prove nothing.
 */
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../support/fault-proxy.ts';
import { evmCallFaults } from '../support/faults/evm-calls.ts';
import { type FaultNature, REQUEST_FAULTS, ratesFor } from '../support/faults/faults.ts';
import { eventually } from '../support/plugin-host.ts';

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const [account] = anvil.accounts;
if (account === undefined) throw new Error('anvil has no accounts');
const wallet = new Wallet(account.privateKey);
let nonce = 0;

const evmRates = (natures: readonly FaultNature[]) => ratesFor(natures, 1, evmCallFaults());

async function proxyFor(t: Test, options: Partial<FaultProxyOptions>): Promise<FaultProxy> {
  const calls = evmCallFaults();
  const proxy = await startFaultProxy({ target: anvil.url, seed: 1, rates: {}, calls, longestDelayMs: 20, ...options });
  t.teardown(() => proxy.stop());
  return proxy;
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(2_000),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function ask(proxy: FaultProxy, method: string, params: unknown[] = []) {
  const { text } = await post(proxy.url, { jsonrpc: '2.0', id: 1, method, params });
  return JSON.parse(text) as { id: unknown; result?: unknown; error?: { message: string } };
}

/** The bytes of a payment of 1 wei with the next nonce. No node has seen them. */
async function signed(): Promise<string> {
  nonce += 1;
  return await wallet.signTransaction(paymentOf(nonce - 1));
}

function paymentOf(at: number) {
  return {
    to: wallet.address,
    value: 1,
    nonce: at,
    gasLimit: 21_000,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 1,
    chainId: 31_337,
    type: 2,
  };
}

const mined = async () => Number(await anvil.rpc('eth_getTransactionCount', [wallet.address, 'latest']));
/** The node answers before it has mined a transaction, so wait. */
const comesTo = (count: number) => eventually(mined, (is) => is >= count);

t.test('without rates it passes on single calls and batches', async (t) => {
  const proxy = await proxyFor(t, {});
  t.match(await ask(proxy, 'eth_chainId'), { id: 1, result: '0x7a69' });
  const { text } = await post(proxy.url, [
    { jsonrpc: '2.0', id: 'a', method: 'eth_chainId', params: [] },
    { jsonrpc: '2.0', id: 'b', method: 'eth_nothing', params: [] },
  ]);
  t.match(JSON.parse(text), [
    { id: 'a', result: '0x7a69' },
    { id: 'b', error: { code: -32_601 } },
  ]);
  t.equal(proxy.requests, 2);
  t.equal(proxy.injected.size, 0);
});

t.test('what the node heard of before the connection broke is done', async (t) => {
  const dropping = await proxyFor(t, { rates: { 'request dropped': 1 } });
  const raw = await signed();
  const before = await mined();
  await t.rejects(ask(dropping, 'eth_sendRawTransaction', [raw]));
  t.equal(await mined(), before, 'a dropped request has reached nobody');
  dropping.setRates({ 'answer dropped': 1 });
  await t.rejects(ask(dropping, 'eth_sendRawTransaction', [raw]));
  t.equal(await comesTo(before + 1), before + 1, 'a dropped answer is one of something that was done');
  dropping.setRates({ 'answer withheld': 1 });
  await t.rejects(ask(dropping, 'eth_sendRawTransaction', [await signed()]), { name: 'TimeoutError' });
  t.equal(await comesTo(before + 2), before + 2);
  t.same(Object.fromEntries(dropping.injected), {
    'request dropped': 1,
    'answer dropped': 1,
    'answer withheld': 1,
  });
});

t.test('gateways in trouble, answers that are none', async (t) => {
  const proxy = await proxyFor(t, {});
  const chainId = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
  for (const status of [429, 502, 503] as const) {
    proxy.setRates({ [`status ${status}`]: 1 });
    t.equal((await post(proxy.url, chainId)).status, status);
  }
  proxy.setRates({ 'status 429 with Retry-After': 1 });
  t.equal((await post(proxy.url, chainId)).headers.get('retry-after'), '1');
  proxy.setRates({ 'answer cut short': 1 });
  const cut = await post(proxy.url, chainId);
  t.throws(() => JSON.parse(cut.text));
  proxy.setRates({ 'foreign id': 1 });
  t.match(await ask(proxy, 'eth_chainId'), { id: 7_778, result: '0x7a69' });
  proxy.setRates({ delayed: 1 });
  t.match(await ask(proxy, 'eth_chainId'), { id: 1, result: '0x7a69' });
});

t.test('a request that is sent twice has one effect and one answer', async (t) => {
  const methods: string[] = [];
  const proxy = await proxyFor(t, {
    rates: { 'sent twice': 1 },
    watch: (method, moment) => methods.push(moment, method),
  });
  const before = await mined();
  const { result, error } = await ask(proxy, 'eth_sendRawTransaction', [await signed()]);
  t.ok(result !== undefined || /nonce too low|already/.test(error?.message ?? ''));
  t.equal(await comesTo(before + 1), before + 1);
  t.same(methods, ['before', 'eth_sendRawTransaction', 'after', 'eth_sendRawTransaction']);
});

t.test('batches out of order and with holes', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'batch out of order': 1 } });
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }));
  t.match(JSON.parse((await post(proxy.url, batch)).text), [{ id: 2 }, { id: 1 }]);
  proxy.setRates({ 'batch with a hole': 1 });
  t.match(JSON.parse((await post(proxy.url, batch)).text), [{ id: 2 }]);
  t.match(await ask(proxy, 'eth_chainId'), { id: 1, result: '0x7a69' }, 'a single call is none');
});

t.test('counts and blocks that were or never were', async (t) => {
  const proxy = await proxyFor(t, {});
  const count = async () => Number((await ask(proxy, 'eth_getTransactionCount', [wallet.address, 'latest'])).result);
  const truth = await count();
  const height = (await ask(proxy, 'eth_blockNumber')).result;
  await anvil.rpc('eth_sendRawTransaction', [await signed()]);
  await comesTo(truth + 1);
  proxy.setRates({ 'count of earlier': 1, 'height of earlier': 1 });
  t.equal(await count(), truth);
  t.equal((await ask(proxy, 'eth_blockNumber')).result, height);
  proxy.setRates({ 'count too low': 1 });
  t.ok((await count()) < truth + 1);
  proxy.setRates({ 'count too high': 1 });
  const high = await count();
  t.ok(high > truth + 1 && high < truth + 6, String(high));
  proxy.setRates({ 'count far too high': 1 });
  t.ok((await count()) > truth + 900);
});

t.test('receipts that are not there yet', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'no receipt': 1, 'no receipts of a block': 1 } });
  const before = await mined();
  const hash = String(await anvil.rpc('eth_sendRawTransaction', [await signed()]));
  await comesTo(before + 1);
  t.equal((await ask(proxy, 'eth_getTransactionReceipt', [hash])).result, null);
  t.equal((await ask(proxy, 'eth_getBlockReceipts', ['latest'])).result, null);
  proxy.setRates({});
  t.match((await ask(proxy, 'eth_getTransactionReceipt', [hash])).result, { transactionHash: hash });
});

t.test('receipts of old blocks that are gone', async (t) => {
  const proxy = await proxyFor(t, { rates: evmRates(['pruned']), isTruthful: () => true });
  const before = await mined();
  const hash = String(await anvil.rpc('eth_sendRawTransaction', [await signed()]));
  await comesTo(before + 1);
  const { result } = await ask(proxy, 'eth_getTransactionReceipt', [hash]);
  t.match(result, { transactionHash: hash }, 'it has what is new');
  const { blockNumber } = result as { blockNumber: string };
  t.match((await ask(proxy, 'eth_getBlockReceipts', [blockNumber])).result, [{ transactionHash: hash }]);
  await anvil.rpc('anvil_mine', ['0x6']);
  await ask(proxy, 'eth_blockNumber');
  t.equal((await ask(proxy, 'eth_getTransactionReceipt', [hash])).result, null);
  t.equal((await ask(proxy, 'eth_getBlockReceipts', [blockNumber])).result, null);
});

t.test('a receipt of something that is in no block', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'inclusion forged': 1, 'transaction dropped in silence': 1 } });
  const { result: hash } = await ask(proxy, 'eth_sendRawTransaction', [await wallet.signTransaction(paymentOf(nonce))]);
  const from = wallet.address.toLowerCase();
  t.match((await ask(proxy, 'eth_getTransactionReceipt', [hash])).result, { transactionHash: hash, from });
  t.equal(await anvil.rpc('eth_getTransactionReceipt', [hash]), null);
  const foreign = `0x${'ab'.repeat(32)}`;
  t.equal((await ask(proxy, 'eth_getTransactionReceipt', [foreign])).result, null, 'it knows no sender of that');
});

t.test('false answers to an offer, with and without its effect', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'done by the node, "nonce too low"': 1 } });
  const before = await mined();
  t.match((await ask(proxy, 'eth_sendRawTransaction', [await signed()])).error, { message: /nonce too low/ });
  t.equal(await comesTo(before + 1), before + 1);
  const raw = await signed();
  proxy.setRates({ 'kept from the node, "insufficient funds"': 1 });
  t.match((await ask(proxy, 'eth_sendRawTransaction', [raw])).error, { message: /insufficient funds/ });
  proxy.setRates({ 'transaction dropped in silence': 1 });
  const { result: promised } = await ask(proxy, 'eth_sendRawTransaction', [raw]);
  t.equal(await comesTo(before + 1), before + 1);
  proxy.setRates({ 'wrong hash': 1 });
  const { result: wrong } = await ask(proxy, 'eth_sendRawTransaction', [raw]);
  t.equal(await comesTo(before + 2), before + 2);
  t.ok(await anvil.rpc('eth_getTransactionReceipt', [promised]), 'the silent one names the hash that it would have');
  t.equal(await anvil.rpc('eth_getTransactionReceipt', [wrong]), null);
});

t.test('a proxy that is truthful at the moment lags but does not lie', async (t) => {
  let truthful = true;
  const proxy = await proxyFor(t, { rates: evmRates(['lag', 'lie']), isTruthful: () => truthful });
  t.match(await ask(proxy, 'eth_getBalance', [wallet.address, 'latest']), { result: /^0x[1-9a-f]/ });
  truthful = false;
  t.match(await ask(proxy, 'eth_getBalance', [wallet.address, 'latest']), { result: '0x0' });
});

t.test('the plan is the same for the same seed', async (t) => {
  const fates = async (seed: number) => {
    const proxy = await proxyFor(t, { seed, rates: { 'status 502': 0.5 } });
    const statuses: number[] = [];
    for (let call = 0; call < 24; call += 1) {
      statuses.push((await post(proxy.url, { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })).status);
    }
    return statuses;
  };
  const first = await fates(7);
  t.same(await fates(7), first);
  t.not(JSON.stringify(await fates(8)), JSON.stringify(first));
  t.ok(first.includes(200) && first.includes(502));
});

t.test('every fault has a nature by which it is chosen', async (t) => {
  const { table } = evmCallFaults();
  const chosen = (['trouble', 'lag', 'pruned', 'lie', 'odd'] as const).flatMap((nature) =>
    Object.keys(evmRates([nature])),
  );
  t.same(chosen.sort(), [...Object.keys(REQUEST_FAULTS), ...Object.keys(table)].sort());
  const proxy = await proxyFor(t, {});
  t.throws(() => proxy.setRates({ 'count too hihg': 1 }), { message: 'There is no fault "count too hihg".' });
});
