import t from 'tap';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { offer } from '../../../../../src/engine/lane/broadcast.ts';
import { LaneMemory } from '../../../../../src/engine/lane/lane-memory.ts';
import { fillGaps } from '../../../../../src/engine/sequencing/gaps.ts';
import { ADDRESS, EngineWorld, stepAt } from '../../../../support/engine-world.ts';

/** A world with a gap: the chain dropped a foreign transaction with sequence 0, and ours waits under sequence 1. */
async function withGap(t: {
  teardown(end: () => Promise<void>): void;
}): Promise<{ world: EngineWorld; ours: Transaction }> {
  const world = await EngineWorld.open(t);
  const foreign = { from: ADDRESS, nonce: '0', effect: 'foreign', cost: '1', reverts: false, price: '1' };
  world.chain.submit(JSON.stringify(foreign));
  const pending = await world.accept('pay');
  const step = await world.step();
  await signPending(step, [pending]);
  await signPending(step, [pending]);
  await offer(step);
  world.chain.forgetPool();
  await offer(step);
  return { world, ours: await world.get(pending) };
}

t.test('a gap is filled once the chain has asked for it long enough', async (t) => {
  const { world, ours } = await withGap(t);
  t.equal(ours.sequence, 1n);
  const step = await world.step();
  t.equal(await fillGaps(step), 0, 'the node may only lag');
  const later = stepAt(step, { elapsed: () => performance.now() + step.timing.driftMs });
  t.equal(await fillGaps(later), 1);
  const filler = [...step.open.entries.values()].find(({ transaction }) => transaction.id !== ours.id);
  t.match(filler, {
    transaction: { relayerId: 'r1', status: 'sent', sequence: 0n, statusReason: 'Gap-filling NOOP for nonce 0' },
    attempts: [{ purpose: 'noop', anchor: { kind: 'sequence', sequence: 0n } }],
  });
  t.equal(await fillGaps(later), 0, 'once');
  t.equal((await world.store.read.transactionBySequence('r1', 0n))?.id, filler?.transaction.id);
  t.match(await world.store.read.decisions(filler?.transaction.id ?? '', 10), [{ kind: 'gap-filled' }]);

  await offer(later);
  await offer(stepAt(later, { now: () => Date.now() + 60_000, elapsed: () => performance.now() + 60_000 }));
  world.chain.mine();
  t.strictSame(
    world.chain.executed.map(({ transaction }) => transaction.nonce),
    ['0', '1'],
  );
});

t.test('where nothing waits there is no gap', async (t) => {
  const world = await EngineWorld.open(t);
  t.equal(await fillGaps(await world.step()), 0);
});

t.test(
  'a chain that does not answer, and a filler that cannot be priced or signed, leave things as they are',
  async (t) => {
    const { world } = await withGap(t);
    const hasty = { ...(await world.step()), memory: new LaneMemory(0) };
    world.chain.fault = () => 'request-lost';
    t.equal(await fillGaps(hasty), 0);
    world.chain.fault = () => undefined;
    const { prepare } = world.client.replacement;
    world.client.replacement.prepare = async () => ({ kind: 'parked', reason: 'no money' });
    t.equal(await fillGaps(hasty), 0);
    world.client.replacement.prepare = prepare;
    world.signer.failsAt = () => true;
    t.equal(await fillGaps(hasty), 0);
    t.equal(hasty.open.entries.size, 1);
  },
);
