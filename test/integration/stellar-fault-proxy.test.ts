/** The faults of a Stellar node behind the soaks' proxy: plausible lags, a limited history, and lies. */
import { Asset, Operation } from '@stellar/stellar-sdk';
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

t.test('every fault of Stellar can be chosen, and without rates nothing befalls a call', async (t) => {
  const natures: FaultNature[] = ['lag', 'pruned', 'lie'];
  const faults = stellarCallFaults();
  t.same(Object.keys(ratesFor(natures, 1, faults)).sort(), Object.keys(faults.table).sort());
  const proxy = await proxyFor(t);
  t.same(await ask(proxy, 'getLatestLedger'), await net.rpc('getLatestLedger'));
  t.equal(proxy.injected.size, 0);
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
