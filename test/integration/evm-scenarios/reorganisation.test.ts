/**
 * Reorganised blocks: their transactions are offered again, and no transaction is reported as final before the required
 * depth.
 */
import t, { type Test } from 'tap';
import { type Anvil, startAnvil } from '../../support/anvil.ts';
import { EvmScenario } from '../../support/evm-scenario.ts';

/** A contract that reverts while its first storage slot is zero. */
const MOODY = '0x00000000000000000000000000000000000400d1';
const REVERTS_ON_ZERO = '0x600054600a57600080fd5b00';

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
let accounts = 0;

function open(t: Test): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, settings: { required_confirmations: 3 } });
}

/** Reverts the chain to the snapshot, and mines a longer chain from there. */
async function reorganise({ rpc }: Anvil, snapshot: unknown): Promise<void> {
  await rpc('evm_revert', [snapshot]);
  await rpc('anvil_mine', ['0x3']);
}

function setMood(value: 0 | 1): Promise<unknown> {
  return anvil.rpc('anvil_setStorageAt', [MOODY, '0x0', `0x${String(value).padStart(64, '0')}`]);
}

t.test('what was mined goes back to submitted, is offered again as it was, and is confirmed', async (t) => {
  for (const minutes of [0, 5]) {
    const stage = await open(t);
    await stage.start();
    const id = await stage.send();
    await stage.untilStatus(id, 'submitted');
    const snapshot = await anvil.rpc('evm_snapshot');
    await stage.mine();
    await stage.untilStatus(id, 'mined');
    const { hash } = await stage.get(id);
    stage.pass(minutes * 60_000);
    await reorganise(anvil, snapshot);
    await stage.untilStatus(id, 'submitted');
    const kinds = (await stage.store.read.decisions(id, 9)).map(({ kind }) => kind);
    t.ok(kinds.includes('reorganised'), `${minutes} minutes old`);
    await stage.untilStatus(id, 'confirmed', { mining: true });
    t.equal((await stage.attempts(id)).find((attempt) => attempt.hash === hash)?.ordinal, 1);
    t.strictSame([await stage.paid(), await stage.nonces()], [7n, 1]);
  }
});

for (const [first, then, end] of [
  [0, 1, 'confirmed'],
  [1, 0, 'failed'],
] as const) {
  t.test(`a receipt that turns over with a reorganisation ends as the chain does: ${end}`, async (t) => {
    const stage = await open(t);
    await anvil.rpc('anvil_setCode', [MOODY, REVERTS_ON_ZERO]);
    await setMood(first);
    await stage.start();
    const id = await stage.send({ to: MOODY, value: 0, gas_limit: 60_000 });
    await stage.untilStatus(id, 'submitted');
    const snapshot = await anvil.rpc('evm_snapshot');
    await stage.mine();
    await stage.untilStatus(id, 'mined');
    const succeeded = async () => ((await stage.get(id)).fields['receipt'] as { succeeded: boolean }).succeeded;
    t.equal(await succeeded(), first === 1, 'told as it is, and not as the end');
    await reorganise(anvil, snapshot);
    await setMood(then);
    await stage.untilStatus(id, 'submitted');
    await stage.untilStatus(id, end, { mining: true });
    t.equal(await succeeded(), then === 1);
    t.equal(await stage.nonces(), 1);
  });
}
