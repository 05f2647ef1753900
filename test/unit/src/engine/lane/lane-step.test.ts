import t from 'tap';
import { applyToOpen, isDue, unmined } from '../../../../../src/engine/lane/lane-step.ts';
import { EngineWorld, pendingTransaction, stepAt } from '../../../../support/engine-world.ts';
import { attemptOf } from '../../../../support/store.ts';

const entry = (status: 'sent' | 'submitted' | 'mined', sequence: bigint) => ({
  transaction: pendingTransaction('pay', { status, sequence }),
  attempts: [],
});

t.test('what is not in a block comes lowest sequence first, also beyond the digits of a float', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const entries = [entry('sent', 2n ** 63n + 1n), entry('mined', 1n), entry('submitted', 2n ** 63n)];
  for (const one of entries) step.open.set(one.transaction.id, one);
  t.strictSame(
    unmined(step).map(({ transaction }) => transaction.sequence),
    [2n ** 63n, 2n ** 63n + 1n],
  );
  t.equal(step.open.bySequence[0]?.transaction.sequence, 1n);
});

t.test('due is what has a time that has come', async (t) => {
  const world = await EngineWorld.open(t);
  const step = stepAt(await world.step(), { now: () => 100 });
  const at = (nextActionAt: number | null) => ({
    transaction: pendingTransaction('pay', { nextActionAt }),
    attempts: [],
  });
  t.strictSame(
    [at(100), at(101), at(null)].map((one) => isDue(step, one)),
    [true, false, false],
  );
});

t.test('what became final or pending again leaves the picture, what changed is current', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const [ended, again, changed] = [
    await world.accept('a', { status: 'submitted', sequence: 7n }),
    await world.accept('b', { status: 'submitted' }),
    await world.accept('c', { status: 'submitted' }),
  ];
  for (const transaction of [ended, again, changed]) step.open.set(transaction.id, { transaction, attempts: [] });
  for (const { id } of [ended, again]) step.memory.offers.failed(id);
  const known: unknown[] = [];
  step.open.ended = (sequence) => void known.push(sequence);

  await applyToOpen(step, [
    { transaction: ended, set: { status: 'failed', nextActionAt: null } },
    { transaction: again, set: { status: 'pending' } },
    { transaction: changed, set: { statusReason: 'waiting' } },
  ]);
  t.strictSame([...step.open.entries.keys()], [changed.id]);
  t.equal(step.open.entries.get(changed.id)?.transaction.statusReason, 'waiting');
  t.equal(step.memory.offers.size, 0);
  t.strictSame(known, [7n], 'what is pending again has used nothing');
});

t.test('what a node took and what died is current, and what counts is the first time', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const transaction = await world.accept('a', { status: 'sent' });
  const attempts = [attemptOf(transaction), attemptOf(transaction, { ordinal: 2 })];
  await world.store.write(async (writer) => {
    for (const attempt of attempts) await writer.insertAttempt(attempt);
  });
  step.open.set(transaction.id, { transaction, attempts });

  const apply = (at: number) =>
    applyToOpen(step, [{ transaction, set: {}, accepted: { ordinal: 1, at }, died: { ordinals: [2], at } }]);
  for (const at of [5, 6]) await apply(at);
  const known = step.open.entries.get(transaction.id)?.attempts;
  t.match(known, [
    { ordinal: 1, acceptedAt: 5, deadAt: null },
    { ordinal: 2, acceptedAt: null, deadAt: 5 },
  ]);
  t.strictSame(known, await world.store.read.attempts(transaction.id), 'as the store has it');
});
