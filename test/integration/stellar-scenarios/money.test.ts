/** The money of a relayer, and the part that it must not pay out. */
import t from 'tap';
import { StellarScenario } from '../../support/stellar-scenario.ts';
import { LUMEN, startStellarScene } from '../../support/stellar-scene.ts';

const scene = await startStellarScene();
const { net, balanceOf } = scene;
t.teardown(() => net.stop());

t.test('many at once never take the account below its minimum, and go on when there is money', async (t) => {
  const scenario = await StellarScenario.open(t, scene, {
    stroops: 5n * LUMEN,
    policies: { min_balance: String(2n * LUMEN) },
  });
  await scenario.start();
  const ids = await Promise.all(Array.from({ length: 4 }, () => scenario.send()));
  await scenario.until('two are paid', async () => (await scenario.received()) === 2n, { mining: true });
  await net.tick(3);
  t.ok((await balanceOf(scenario.relayer.publicKey())) >= 2n * LUMEN);
  await net.fund(scenario.relayer.publicKey(), 10n * LUMEN);
  scenario.pass(15_000);
  await scenario.untilStatus(ids, 'confirmed', { mining: true });
  t.equal(await scenario.received(), 4n);
});

t.test('an account that is not there is waited for', async (t) => {
  const scenario = await StellarScenario.open(t, scene, { stroops: null });
  await scenario.start();
  const id = await scenario.send();
  await scenario.until('it says so', async () => /does not exist/.test((await scenario.get(id)).statusReason ?? ''));
  await net.fund(scenario.relayer.publicKey(), 10n * LUMEN);
  scenario.pass(15_000);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});
