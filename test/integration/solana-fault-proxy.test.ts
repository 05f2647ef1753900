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

const statusesOf = async (proxy: FaultProxy, signature: string) =>
  (await ask(proxy, 'getSignatureStatuses', [signature], { searchTransactionHistory: true })).result;

t.test('every fault of Solana can be chosen, and without rates nothing befalls a call', async (t) => {
  const natures: FaultNature[] = ['lag', 'pruned', 'lie'];
  const faults = solanaCallFaults();
  t.same(Object.keys(ratesFor(natures, 1, faults)).sort(), Object.keys(faults.table).sort());
  const proxy = await proxyFor(t);
  t.same((await ask(proxy, 'getEpochInfo')).result, await svm.rpc('getEpochInfo'));
  t.equal(proxy.injected.size, 0);
});

t.test('a node that is behind says so in its slot', async (t) => {
  const signature = await (await payment()).land();
  const proxy = await proxyFor(t, { rates: { 'statuses of earlier': 1 } });
  const slot = Number(await svm.rpc('getSlot', [{ commitment: 'processed' }]));
  const told = (await statusesOf(proxy, signature)) as { context: { slot: number }; value: unknown[] };
  t.ok(told.context.slot < slot);
  await svm.tick(60);
  t.match(await statusesOf(proxy, signature), { value: [{ err: null }] }, 'what is old it knows');
  proxy.setRates({ 'standing of earlier': 1 });
  const before = (await ask(proxy, 'getEpochInfo')).result;
  await svm.tick();
  t.same((await ask(proxy, 'getEpochInfo')).result, before);
});

t.test('a node that has forgotten says from where it remembers', async (t) => {
  const signature = await (await payment()).land();
  const proxy = await proxyFor(t, { rates: ratesFor(['pruned'], 1, solanaCallFaults()), isTruthful: () => true });
  t.match(await statusesOf(proxy, signature), { value: [{ err: null }] }, 'it has what is new');
  await svm.tick(70);
  await ask(proxy, 'getEpochInfo');
  t.match(await statusesOf(proxy, signature), { value: [null] });
  t.equal((await ask(proxy, 'getTransaction', signature, { encoding: 'base64' })).result, null);
  const landedAt = ((await svm.rpc('getTransaction', [signature, { encoding: 'base64' }])) as { slot: number }).slot;
  t.ok(Number((await ask(proxy, 'getFirstAvailableBlock')).result) > landedAt);
});

t.test('lies about what is in blocks', async (t) => {
  const landed = await (await payment()).land();
  const proxy = await proxyFor(t, { rates: { 'no statuses': 1 } });
  t.match(await statusesOf(proxy, landed), { value: [null] });
  proxy.setRates({ 'success told as failure': 1 });
  t.match(await statusesOf(proxy, landed), { value: [{ err: { InstructionError: [0, { Custom: 1 }] } }] });
  proxy.setRates({ 'final before it is': 1 });
  t.match(await statusesOf(proxy, landed), { value: [{ confirmationStatus: 'finalized', confirmations: null }] });
  proxy.setRates({ 'success forged': 1 });
  const never = '1'.repeat(63) + '2';
  t.match(await statusesOf(proxy, never), { value: [{ confirmationStatus: 'finalized', err: null }] });
  proxy.setRates({ 'failure forged': 1 });
  t.match(await statusesOf(proxy, never), { value: [{ status: { Err: {} } }] });
});

t.test('lies about heights and blockhashes', async (t) => {
  const proxy = await proxyFor(t, { rates: { 'standing far too high': 1, 'blockhash dies too late': 1 } });
  const heightOf = (answer: unknown) => (answer as { blockHeight: number }).blockHeight;
  const truth = heightOf(await svm.rpc('getEpochInfo'));
  t.equal(heightOf((await ask(proxy, 'getEpochInfo')).result), truth + 1_000_000);
  const lastOf = (answer: unknown) =>
    (answer as { value: { lastValidBlockHeight: number } }).value.lastValidBlockHeight;
  const last = lastOf(await svm.rpc('getLatestBlockhash'));
  t.equal(lastOf((await ask(proxy, 'getLatestBlockhash')).result), last + 1_000);
  proxy.setRates({ 'blockhash dies too early': 1, 'standing too low': 1, 'blockhash denied': 1 });
  t.ok(lastOf((await ask(proxy, 'getLatestBlockhash')).result) <= last);
  t.ok(heightOf((await ask(proxy, 'getEpochInfo')).result) < truth);
  const { blockhash } = ((await svm.rpc('getLatestBlockhash')) as { value: { blockhash: string } }).value;
  t.match((await ask(proxy, 'isBlockhashValid', blockhash)).result, { value: false });
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
