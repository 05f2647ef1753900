import t, { type Test } from 'tap';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { leaveRestartedChain } from '../../../../../src/engine/lane/lane.ts';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import { ADDRESS, EngineWorld, LANE } from '../../../../support/engine-world.ts';

/** One signed and one pending transaction. With `pinned`, the chain has restarted under that identity. */
async function scene(t: Test, { pinned, restartable = true }: { pinned?: string; restartable?: boolean }) {
  const world = await EngineWorld.open(t);
  if (restartable) Object.assign(world.family, { restartable: (identity: string) => identity.split('@', 1)[0] });
  const [signed, pending] = [await world.accept('signed'), await world.accept('pending')];
  const known = await world.step();
  const chainIdentity = async () => pinned;
  const step = pinned === undefined ? known : { ...known, read: { ...known.read, chainIdentity } };
  await signPending(step, [signed]);
  return { world, step, signed, pending };
}

/** The signed transaction as the lane knows it. */
function signedIn(step: LaneStep): Transaction {
  const [entry] = step.open.entries.values();
  if (entry === undefined) throw new Error('nothing is open');
  return entry.transaction;
}

t.test('what was signed for an earlier chain ends unsent, what was not goes to the lane of the new one', async (t) => {
  const { world, step, signed, pending } = await scene(t, { pinned: '31337@ab' });
  t.equal(await leaveRestartedChain(step, [signedIn(step), pending]), 2);
  t.match(await world.get(signed), { status: 'failed', statusReason: /started anew/, sequence: null });
  t.match(await world.get(pending), { status: 'pending', lane: `evm:31337@ab:${ADDRESS}`, nextActionAt: Number });
  t.equal(step.open.entries.size, 0);
  t.strictSame(await world.store.read.settledSequence(LANE), null, 'nothing of it was used');
  t.strictSame(await world.store.read.dueLanes(Date.now()), [`evm:31337@ab:${ADDRESS}`]);
});

for (const [what, given] of [
  ['the chain is the same', {}],
  ['its chain never starts anew', { pinned: '31337@ab', restartable: false }],
] as const) {
  t.test(`all goes on where ${what}`, async (t) => {
    const { step, pending } = await scene(t, given);
    t.equal(await leaveRestartedChain(step, [signedIn(step), pending]), 0);
    t.equal(step.open.entries.size, 1);
  });
}

t.test('transactions of a relayer that is gone do not end, for nobody knows its chain', async (t) => {
  const { step, pending } = await scene(t, { pinned: '31337@ab' });
  t.equal(await leaveRestartedChain(step, [{ ...pending, relayerId: 'gone' }]), 0);
});
