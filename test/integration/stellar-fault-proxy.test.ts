/** The faults of a Stellar node behind the soaks' proxy: plausible lags, a limited history, and lies. */
import { Asset, Operation, xdr } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type FaultNature, type FaultRates, ratesFor } from '../support/faults/faults.ts';
import { stellarCallFaults } from '../support/faults/stellar-calls.ts';
import { startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
const { net, funded, signed } = scene;
t.teardown(() => net.stop());
const payer = await funded();

async function proxyFor(t: Test, rates: FaultRates = {}): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ target: net.url, seed: 1, rates, calls: stellarCallFaults() });
  t.teardown(() => proxy.stop());
  return proxy;
}

type Told = { [key: string]: unknown };

async function ask(proxy: FaultProxy, method: string, params?: object): Promise<Told> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) });
  const headers = { 'content-type': 'application/json' };
  return ((await (await fetch(proxy.url, { method: 'POST', headers, body })).json()) as { result: Told }).result;
}

async function payment() {
  const pays = Operation.payment({ destination: payer.publicKey(), asset: Asset.native(), amount: '1' });
  const transaction = await signed(payer, [pays], { with: (builder) => builder.setTimeout(0) });
  return { raw: transaction.toXdr(), hash: Buffer.from(transaction.hash()).toString('hex') };
}

const accountKey = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: payer.xdrAccountId() }));
const ENTRIES = { keys: [accountKey.toXdr('base64')] };

function accountIn(told: Told): xdr.AccountEntry {
  const [entry] = told['entries'] as { xdr: string }[];
  const data = xdr.LedgerEntryData.fromXdr(entry?.xdr ?? '', 'base64');
  if (data.type !== 'account') throw new Error('no account');
  return data.account;
}

t.test('every fault of Stellar can be chosen, and without rates nothing befalls a call', async (t) => {
  const natures: FaultNature[] = ['lag', 'pruned', 'lie'];
  const faults = stellarCallFaults();
  t.same(Object.keys(ratesFor(natures, 1, faults)).sort(), Object.keys(faults.table).sort());
  const proxy = await proxyFor(t);
  t.same(await ask(proxy, 'getLatestLedger'), await net.rpc('getLatestLedger'));
  t.equal(proxy.injected.size, 0);
});

t.test('a node that is behind or has forgotten', async (t) => {
  const { raw, hash } = await payment();
  const proxy = await proxyFor(t, { 'ledger of earlier': 1 });
  const before = await ask(proxy, 'getLatestLedger');
  await net.rpc('sendTransaction', { transaction: raw });
  await net.tick();
  t.same(await ask(proxy, 'getLatestLedger'), before);
  proxy.setRates(ratesFor(['pruned'], 1, stellarCallFaults()));
  t.match(await ask(proxy, 'getTransaction', { hash }), { status: 'SUCCESS' }, 'it has what is new');
  await net.tick(40);
  const told = await ask(proxy, 'getTransaction', { hash });
  t.equal(told['status'], 'NOT_FOUND');
  t.equal(told['oldestLedger'], Number(told['latestLedger']) - 30);
});

t.test('lies about what is in ledgers, and about accounts', async (t) => {
  const { raw, hash } = await payment();
  await net.rpc('sendTransaction', { transaction: raw });
  await net.tick();
  const proxy = await proxyFor(t, { 'not found': 1 });
  t.match(await ask(proxy, 'getTransaction', { hash }), { status: 'NOT_FOUND' });
  proxy.setRates({ 'success told as failure': 1 });
  t.match(await ask(proxy, 'getTransaction', { hash }), { status: 'FAILED' });
  proxy.setRates({ 'success forged': 1 });
  t.match(await ask(proxy, 'getTransaction', { hash: '00'.repeat(32) }), { status: 'SUCCESS' });
  const truth = accountIn((await net.rpc('getLedgerEntries', ENTRIES)) as Told);
  proxy.setRates({ 'sequence too high': 1 });
  t.ok(accountIn(await ask(proxy, 'getLedgerEntries', ENTRIES)).seqNum > truth.seqNum);
  proxy.setRates({ 'no money': 1 });
  t.equal(accountIn(await ask(proxy, 'getLedgerEntries', ENTRIES)).balance, 0n);
});

t.test('false answers to an offer, with and without its effect', async (t) => {
  const { raw, hash } = await payment();
  const proxy = await proxyFor(t, { 'taken falsely, kept from the node': 1 });
  t.match(await ask(proxy, 'sendTransaction', { transaction: raw }), { status: 'PENDING', hash });
  await net.tick();
  t.match(await net.rpc('getTransaction', { hash }), { status: 'NOT_FOUND' });
  proxy.setRates({ 'refused falsely': 1 });
  t.match(await ask(proxy, 'sendTransaction', { transaction: raw }), { status: 'ERROR', errorResultXdr: /./ });
  await net.tick();
  t.match(await net.rpc('getTransaction', { hash }), { status: 'SUCCESS' }, 'it has it');
});
