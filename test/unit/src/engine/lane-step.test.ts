import t from 'tap';
import { applyToOpen, bySequence, isDue, unmined } from '../../../../src/engine/lane-step.ts';
import { EngineWorld, pendingTransaction } from '../../../support/engine-world.ts';

const entry = (status: 'sent' | 'submitted' | 'mined', sequence: bigint) => ({
  transaction: pendingTransaction('pay', { status, sequence }),
  attempts: [],
});

t.test('what is not in a block comes lowest sequence first, also beyond the digits of a float', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const entries = [entry('sent', 2n ** 63n + 1n), entry('mined', 1n), entry('submitted', 2n ** 63n)];
  step.open = new Map(entries.map((one) => [one.transaction.id, one]));
  t.strictSame(
    unmined(step).map(({ transaction }) => transaction.sequence),
    [2n ** 63n, 2n ** 63n + 1n],
  );
  t.equal(bySequence(entries)[0]?.transaction.sequence, 1n);
});

t.test('due is what has a time that has come', async (t) => {
  const world = await EngineWorld.open(t);
  const step = { ...(await world.step()), now: () => 100 };
  const at = (nextActionAt: number | null) => ({
    transaction: pendingTransaction('pay', { nextActionAt }),
    attempts: [],
  });
  t.strictSame(
    [at(100), at(101), at(null)].map((one) => isDue(step, one)),
    [true, false, false],
  );
});

t.test('what became final leaves the picture, what changed is current', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const [ended, changed] = [await world.accept('a'), await world.accept('b')];
  for (const transaction of [ended, changed]) step.open.set(transaction.id, { transaction, attempts: [] });
  step.offers.failed(ended.id);

  await applyToOpen(step, [
    { transaction: ended, set: { status: 'failed', nextActionAt: null } },
    { transaction: changed, set: { statusReason: 'waiting' } },
  ]);
  t.strictSame([...step.open.keys()], [changed.id]);
  t.equal(step.open.get(changed.id)?.transaction.statusReason, 'waiting');
  t.equal(step.offers.size, 0);
});
