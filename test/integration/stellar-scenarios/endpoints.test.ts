/** Nodes lag, lie or report that they are not well. No payment is made twice, lost, or ended after it landed. */
import t from 'tap';
import { StellarScenario } from '../../support/stellar-scenario.ts';
import { startStellarScene } from '../../support/stellar-scene.ts';

const scene = await startStellarScene();
const { net } = scene;
t.teardown(() => net.stop());
const other = await net.endpoint();

t.test('one node that claims the end of a time bound buries nothing', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { urls: [net.url, other.url] });
  await net.fault({
    methods: ['getTransaction'],
    act: { kind: 'merge', fields: { latestLedgerCloseTime: '9999999999' } },
  });
  await net.dropNext(1);
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await net.tick(2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await scenario.attempts(id)).length, 1);
  await net.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.received(), 1n);
});

t.test('a node that lags for long neither loses nor doubles a payment', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { urls: [net.url, other.url] });
  await net.setBehind(6);
  await scenario.start();
  const ids = [await scenario.send(), await scenario.send(), await scenario.send()];
  await scenario.untilStatus(ids, 'confirmed', { mining: true });
  await net.setBehind(0);
  t.equal(await scenario.received(), 3n);
});

t.test('a node that is ill costs nothing but time', async (t) => {
  for (const act of [
    { kind: 'http', status: 500 },
    { kind: 'http', status: 429 },
    { kind: 'refuse' },
    { kind: 'cut' },
    { kind: 'error', code: -32_005, message: 'limited' },
  ] as const) {
    const scenario = await StellarScenario.open(t, scene, { urls: [net.url, other.url] });
    await net.fault({ act });
    await scenario.start();
    const id = await scenario.send();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    await net.clearFaults();
    t.equal(await scenario.executions(id), 1, act.kind);
    t.equal(await scenario.received(), 1n, act.kind);
  }
});

t.test('what is known already is taken for taken', async (t) => {
  const scenario = await StellarScenario.open(t, scene);
  await net.fault({ methods: ['sendTransaction'], times: 1, act: { kind: 'cut' } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  const [attempt] = await scenario.attempts(id);
  t.equal((await net.offers()).filter((hash) => hash === attempt?.hash).length, 2, 'the second was a duplicate');
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});
