/**
 * The fault proxy that the soaks put before a node: it makes the faults that it should, and no others. A soak behind a
 * proxy without faults would prove nothing.
 */
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../support/fault-proxy.ts';
import { evmCallFaults } from '../support/faults/evm-calls.ts';
import { type FaultNature, REQUEST_FAULTS, ratesFor } from '../support/faults/faults.ts';

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

t.test('every fault has a nature by which it is chosen', async (t) => {
  const { table } = evmCallFaults();
  const chosen = (['trouble', 'lag', 'pruned', 'lie', 'odd'] as const).flatMap((nature) =>
    Object.keys(evmRates([nature])),
  );
  t.same(chosen.sort(), [...Object.keys(REQUEST_FAULTS), ...Object.keys(table)].sort());
  const proxy = await proxyFor(t, {});
  t.throws(() => proxy.setRates({ 'count too hihg': 1 }), { message: 'There is no fault "count too hihg".' });
});
