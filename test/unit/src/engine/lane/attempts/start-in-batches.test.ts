import t from 'tap';
import { startInBatches } from '../../../../../../src/engine/lane/attempts/start-in-batches.ts';

t.test('the loop turns after each batch, and outcomes keep the order of the items', async (t) => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const outcomes = await startInBatches([1, 2, 3, 4, 5, 6, 7], 3, async (item, index) => {
    if (item === 4) throw new Error('not this one');
    return { item, index, turn };
  });
  isOver = true;
  const done = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  t.strictSame(
    done.map((one) => one?.index),
    [0, 1, 2, undefined, 4, 5, 6],
  );
  t.match(outcomes[3], { status: 'rejected', reason: { message: 'not this one' } });
  t.equal(done[0]?.turn, done[2]?.turn, 'those of one turn');
  t.ok(Number(done[4]?.turn) > Number(done[2]?.turn));
  t.ok(Number(done[6]?.turn) > Number(done[4]?.turn));
});

t.test('items that wait for something run at the same time', async (t) => {
  let running = 0;
  let most = 0;
  const { promise: allStarted, resolve } = Promise.withResolvers<void>();
  await startInBatches([1, 2, 3, 4], 1, async () => {
    running += 1;
    most = Math.max(most, running);
    if (running === 4) resolve();
    await allStarted;
  });
  t.equal(most, 4);
  t.strictSame(await startInBatches([], 1, async () => 1), []);
});
