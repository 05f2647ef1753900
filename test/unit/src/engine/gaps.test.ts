import t from 'tap';
import type { Transaction } from '../../../../src/domain/transaction.ts';
import { fillGaps } from '../../../../src/engine/gaps.ts';
import { takeUp } from '../../../../src/engine/intake.ts';
import { offer } from '../../../../src/engine/offering.ts';
import { SequencePlanner } from '../../../../src/engine/sequence-planner.ts';
import { ADDRESS, EngineWorld } from '../../../support/engine-world.ts';

/** A world in which ours waits above a sequence that somebody else used and that the chain has forgotten. */
async function withGap(t: {
  teardown(end: () => Promise<void>): void;
}): Promise<{ world: EngineWorld; ours: Transaction }> {
  const world = await EngineWorld.open(t);
  const foreign = { from: ADDRESS, nonce: '0', effect: 'foreign', cost: '1', reverts: false, price: '1' };
  world.chain.submit(JSON.stringify(foreign));
  const pending = await world.accept('pay');
  const step = await world.step();
  await takeUp(step, [pending]);
  await takeUp(step, [pending]);
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
  const later = { ...step, elapsed: () => performance.now() + step.timing.driftMs };
  t.equal(await fillGaps(later), 1);
  const filler = [...step.open.values()].find(({ transaction }) => transaction.id !== ours.id);
  t.match(filler, {
    transaction: { relayerId: 'r1', status: 'sent', sequence: 0n, statusReason: 'Gap-filling NOOP for nonce 0' },
    attempts: [{ purpose: 'void', sequence: 0n }],
  });
  t.equal(await fillGaps(later), 0, 'once');
  t.equal((await world.store.read.transactionBySequence('r1', 0n))?.id, filler?.transaction.id);
  t.match(await world.store.read.decisions(filler?.transaction.id ?? '', 10), [{ kind: 'gap-filled' }]);

  await offer(later);
  await offer({ ...later, now: () => Date.now() + 60_000, elapsed: () => performance.now() + 60_000 });
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
    const hasty = { ...(await world.step()), planner: new SequencePlanner({ driftMs: 0, lossMs: 0 }) };
    world.chain.fault = () => 'request-lost';
    t.equal(await fillGaps(hasty), 0);
    world.chain.fault = () => undefined;
    const { prepareVersion } = world.client;
    world.client.prepareVersion = async () => ({ kind: 'parked', reason: 'no money', retryInMs: 1 });
    t.equal(await fillGaps(hasty), 0);
    world.client.prepareVersion = prepareVersion;
    world.signer.failsAt = () => true;
    t.equal(await fillGaps(hasty), 0);
    t.equal(hasty.open.size, 1);
  },
);
