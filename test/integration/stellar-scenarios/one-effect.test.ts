/**
 * After a lost answer, a crash or a second check, no transaction runs twice, and none that landed is reported as
 * failed.
 */
import t from 'tap';
import { CRASH_POINTS } from '../../../src/engine/lane/lane-step.ts';
import { StellarScenario } from '../../support/stellar-scenario.ts';
import { startStellarScene } from '../../support/stellar-scene.ts';

const scene = await startStellarScene();
const { net, funded } = scene;
t.teardown(() => net.stop());

t.test('an answer that is lost after the network has the bytes changes nothing', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  await net.fault({ methods: ['sendTransaction'], times: 2, act: { kind: 'cut' } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
  t.equal((await scenario.attempts(id)).length, 1);
  t.equal(scenario.signatures, 1, 'the signer was asked once');
});

t.test('whenever the process dies, what it signed is what its successor offers', async (t) => {
  for (const step of CRASH_POINTS.filter(
    (one) => !['intent-read', 'further-signed', 'further-written'].includes(one),
  )) {
    const scenario = await StellarScenario.open(t, scene);
    await scenario.start({ diesAt: step });
    const id = await scenario.send();
    await scenario.until(`dead at ${step}`, () => scenario.isDead, { mining: step === 'settled' });
    await scenario.start();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1, step);
    t.equal(await scenario.received(), 1n, step);
  }
});

t.test('a fee bump outlives the process like what is its own', async (t) => {
  for (const step of ['priced', 'signed', 'written', 'offered', 'noted'] as const) {
    const scenario = await StellarScenario.open(t, scene);
    const inner = await scenario.signedBy(await funded());
    await scenario.start({ diesAt: step });
    const id = await scenario.request({ network: 'local', transaction_xdr: inner.toXdr(), fee_bump: true });
    await scenario.until(`dead at ${step}`, () => scenario.isDead);
    await scenario.start();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1, step);
    t.equal(await scenario.received(), 1n, step);
  }
});

t.test('a node that says it has no room although it took the bytes causes no second payment', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  const busy = { kind: 'merge', fields: { status: 'TRY_AGAIN_LATER' } } as const;
  await net.fault({ methods: ['sendTransaction'], times: 4, act: busy });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
  t.equal((await scenario.attempts(id)).length, 1);
});

t.test('a node that never has room keeps no attempt alive, and none lands late', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { policies: { timeout_seconds: 60 } });
  await net.fault({ methods: ['sendTransaction'], act: { kind: 'merge', fields: { status: 'TRY_AGAIN_LATER' } } });
  await net.dropNext(1_000);
  await scenario.start();
  const id = await scenario.send();
  await scenario.until('a node was asked', async () => (await net.offers()).length > 0);
  await scenario.until('signed', async () => (await scenario.attempts(id)).length === 1);
  const [first] = await scenario.attempts(id);
  await net.dropNext(0);
  await net.travel(90);
  await net.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await net.landed()).filter(({ hash }) => hash === first?.hash).length, 0, 'it was dead');
  t.equal(await scenario.received(), 1n);
});

t.test('a node that comes back with the past signs nothing anew that has landed', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { policies: { timeout_seconds: 30 } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  // The transaction lands in the next ledger. The only node lags, and does not see it until after the time bound.
  await net.setBehind(9);
  await net.tick(9);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await scenario.get(id)).status, 'submitted');
  await net.setBehind(0);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await scenario.attempts(id)).length, 1);
  t.equal(await scenario.received(), 1n);
});

t.test('an end by time waits for the ledger that closes behind it', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  await net.dropNext(1);
  await scenario.start();
  const end = Math.max(await scenario.chainTime(), Math.floor(Date.now() / 1_000)) + 40;
  const id = await scenario.send({ valid_until: String(end) });
  await scenario.untilStatus(id, 'submitted');
  scenario.pass(3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await scenario.get(id)).status, 'submitted', 'by the chain it is not over');
  await net.travel(60);
  await scenario.untilStatus(id, 'expired', { mining: true });
  t.equal(await scenario.executions(id), 0);
  t.equal(await scenario.received(), 0n);
});

t.test('without a node no transaction ends, however long it lasts', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await net.fault({ act: { kind: 'http', status: 503 } });
  await net.tick(2);
  scenario.pass(3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await scenario.get(id)).status, 'submitted');
  await net.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a result that cannot be read does not undo what it says', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  const newer = { resultXdr: 'AAAA', resultMetaXdr: 'AAAA' };
  await net.fault({ methods: ['getTransaction'], act: { kind: 'merge', fields: newer } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a signer that fails for a while takes no sequence and stalls nobody', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  scenario.signing = Promise.reject(new Error('the key is not at hand'));
  scenario.signing.catch(() => {});
  await scenario.start();
  const ids = [await scenario.send(), await scenario.send()];
  await scenario.until('tried', () => scenario.signatures > 1);
  scenario.signing = Promise.resolve();
  await scenario.untilStatus(ids, 'confirmed', { mining: true });
  t.equal(await scenario.received(), 2n);
});

t.test('what waits long for its turn is good from when it is signed', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { policies: { timeout_seconds: 20 } });
  await scenario.start();
  const ids = await Promise.all(Array.from({ length: 8 }, () => scenario.send()));
  await scenario.untilStatus(ids, 'confirmed', { mining: true });
  t.equal(await scenario.received(), 8n);
});

t.test('a chain that starts anew is found out, and what was lost with it is paid once on the new one', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  await scenario.start();
  const before = await scenario.send();
  await scenario.untilStatus(before, 'confirmed', { mining: true });
  await net.reset();
  await net.fund(scenario.relayer.publicKey(), 1_000_000_000n);
  await net.fund(scenario.payee.publicKey(), 1_000_000_000n);
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await scenario.get(before)).status, 'confirmed', 'what has ended stays so');
  t.equal(await scenario.executions(id), 1);
  t.equal(await scenario.received(), 1n);
});
