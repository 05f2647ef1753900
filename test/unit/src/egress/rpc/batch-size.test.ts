import t from 'tap';
import { createBatchSize, MAX_BATCH } from '../../../../../src/egress/rpc/batch-size.ts';

function sized() {
  const clock = { time: 0, now: () => 0, elapsed: () => clock.time };
  return { clock, size: createBatchSize(clock) };
}

t.test('batches are believed in until they are refused, and for good once they were answered', async (t) => {
  const { size } = sized();
  t.equal(size.most, MAX_BATCH);
  t.equal(size.isProven, false);
  size.answered();
  t.equal(size.isProven, true);
});

t.test('too many means half as many, down to one', async (t) => {
  const { size } = sized();
  size.refused(100, 'size');
  t.equal(size.most, 50);
  size.refused(7, 'size');
  t.equal(size.most, 3);
  size.refused(50, 'size');
  t.equal(size.most, 3, 'an answer to an earlier, larger one teaches nothing');
  size.refused(3, 'size');
  size.refused(1, 'size');
  t.equal(size.most, 1);
});

t.test('no batches means one by one, and is tried again after ten minutes', async (t) => {
  const { clock, size } = sized();
  clock.time = 1_000;
  size.refused(2, 'batch');
  t.equal(size.most, 1);
  clock.time = 600_999;
  t.equal(size.most, 1);
  clock.time = 601_000;
  t.equal(size.most, MAX_BATCH);
});
