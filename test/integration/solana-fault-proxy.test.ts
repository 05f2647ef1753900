/** The faults of a Solana node behind the soaks' proxy: plausible lags, a limited history, and lies. */
import t, { type Test } from 'tap';
import { toBase58 } from '../doubles/svm/base58.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../support/fault-proxy.ts';
import { type FaultNature, ratesFor } from '../support/faults/faults.ts';
import { solanaCallFaults } from '../support/faults/solana-calls.ts';
import { anyone, CONFIRMED, startSvmScene, transfer } from '../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm } = scene;
t.teardown(() => svm.stop());
const payer = await scene.funded();

async function proxyFor(t: Test, options: Partial<FaultProxyOptions> = {}): Promise<FaultProxy> {
  const calls = solanaCallFaults();
  const proxy = await startFaultProxy({ target: svm.url, seed: 1, rates: {}, calls, longestDelayMs: 20, ...options });
  t.teardown(() => proxy.stop());
  return proxy;
}

interface Answer {
  result?: unknown;
  error?: { code: number; message: string };
}

async function ask(proxy: FaultProxy, method: string, ...params: unknown[]): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  return (await (await fetch(proxy.url, { method: 'POST', headers, body })).json()) as Answer;
}

/** A transfer that no node has seen, in base64, its signature, and a function that sends it and waits for its block. */
async function payment(): Promise<{ raw: string; signature: string; land(): Promise<string> }> {
  const bytes = await scene.signed([payer], transfer(payer, anyone(), 1_000_000));
  const signature = toBase58(bytes.subarray(1, 65));
  return { raw: bytes.toString('base64'), signature, land: () => scene.land(bytes) };
}

t.test('every fault of Solana can be chosen, and without rates nothing befalls a call', async (t) => {
  const natures: FaultNature[] = ['lag', 'pruned', 'lie'];
  const faults = solanaCallFaults();
  t.same(Object.keys(ratesFor(natures, 1, faults)).sort(), Object.keys(faults.table).sort());
  const proxy = await proxyFor(t);
  t.same((await ask(proxy, 'getEpochInfo')).result, await svm.rpc('getEpochInfo'));
  t.equal(proxy.injected.size, 0);
});

t.test('false answers to an offer, with and without its effect', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'transaction dropped in silence': 1 } });
  const isIn = async (signature: string) => (await scene.statusOf(signature)) !== null;
  const dropped = await payment();
  const { result: promised } = await ask(proxy, 'sendTransaction', dropped.raw, CONFIRMED);
  await svm.tick(2);
  t.notOk(await isIn(String(promised)));
  t.equal(await dropped.land(), promised, 'the silent one names the signature that it would have');
  const refused = await payment();
  proxy.setRates({ 'refused falsely, kept from the node': 1 });
  t.type((await ask(proxy, 'sendTransaction', refused.raw, CONFIRMED)).error?.code, 'number');
  await svm.tick(2);
  t.notOk(await isIn(refused.signature));
  proxy.setRates({ 'refused falsely, done by the node': 1 });
  t.type((await ask(proxy, 'sendTransaction', refused.raw, CONFIRMED)).error?.code, 'number');
  await svm.tick(2);
  t.ok(await isIn(refused.signature));
});
