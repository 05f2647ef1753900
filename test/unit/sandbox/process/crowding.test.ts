import t from 'tap';
import { Crowding } from '../../../../sandbox/process/crowding.ts';
import { threadMs } from '../../../../sandbox/process/stretch-time.ts';

t.test('a slice grows by what others take of the processor, up to four times', async (t) => {
  t.equal(new Crowding(100, 95).factor, 1);
  t.equal(new Crowding(100, 200).factor, 1, 'never less');
  t.equal(new Crowding(100, 40).factor, 2, 'a tick may be missing in the count');
  t.equal(new Crowding(1000, 40).factor, 4);
});

t.test('the latest stretches count, and short ones do not', async (t) => {
  const crowding = new Crowding(60, 50);
  const took = (wallMs: number, ownMs: number) => crowding.took(wallMs, threadMs() - ownMs);
  took(9, 0);
  t.equal(crowding.factor, 1);
  for (let count = 0; count < 10; count += 1) took(150, 30);
  t.ok(crowding.factor >= 3);
  for (let count = 0; count < 10; count += 1) took(150, 150);
  t.equal(crowding.factor, 1, 'what is long ago is forgotten');
});

t.test('an old measurement counts no more', async (t) => {
  let now = 0;
  const crowding = new Crowding(1000, 40, () => now);
  now = 10_000;
  t.equal(crowding.factor, 4);
  now = 10_001;
  t.equal(crowding.factor, 1);
  crowding.took(400, threadMs());
  t.equal(crowding.factor, 4);
});
