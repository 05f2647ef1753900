import t from 'tap';
import { AgeTracker, ChainClock } from '../../../../../src/engine/lane/lane-memory.ts';
import { createLog } from '../../../../../src/observability/log.ts';

t.test('an age begins with the date and goes on with the time that really passes', async (t) => {
  const ages = new AgeTracker();
  t.equal(ages.of('one', 1_000, { now: 1_300, elapsed: 50 }), 300);
  t.equal(ages.of('one', 1_000, { now: 5, elapsed: 150 }), 400, 'the clock was set back');
  t.equal(ages.of('one', 1_000, { now: 9_000_000, elapsed: 151 }), 401, 'and ahead');
});

t.test('what is dated ahead of now is new', async (t) => {
  const ages = new AgeTracker();
  t.equal(ages.of('one', 1_000, { now: 10, elapsed: 5 }), 0);
  t.equal(ages.of('one', 1_000, { now: 20, elapsed: 15 }), 10);
});

t.test('how long it is watched hangs on no date', async (t) => {
  const ages = new AgeTracker();
  t.equal(ages.watched('one', 50), 0);
  t.equal(ages.of('one', 1_000, { now: 9_000_000, elapsed: 60 }), 8_999_000);
  t.equal(ages.watched('one', 150), 100);
  t.equal(ages.size, 1);
  ages.forget('one');
  t.equal(ages.watched('one', 200), 0);
});

t.test('another date is another age, and what is forgotten takes no room', async (t) => {
  const ages = new AgeTracker();
  ages.of('one', 1_000, { now: 1_300, elapsed: 50 });
  t.equal(ages.of('one', 1_250, { now: 1_300, elapsed: 50 }), 50);
  t.equal(ages.size, 1);
  ages.forget('one');
  t.equal(ages.size, 0);
});

t.test('the chain’s time is asked for once in a while, even when nobody answers', async (t) => {
  let [now, asked] = [0, 0];
  const clock = new ChainClock();
  const options = { elapsed: () => now, keepMs: 100, log: createLog('silent') };
  const read = (answer: () => Promise<{ height: bigint; at: number }>) =>
    clock.at(() => {
      asked += 1;
      return answer();
    }, options);
  const tells = async () => ({ height: 1n, at: 5_000 });
  const fails = () => Promise.reject(new Error('no node'));

  t.equal(await read(tells), 5_000);
  now = 99;
  t.equal(await read(fails), 5_000);
  t.equal(asked, 1);
  now = 100;
  t.equal(await read(fails), undefined);
  now = 199;
  t.equal(await read(tells), undefined);
  t.equal(asked, 2);
  now = 200;
  t.equal(await read(tells), 5_000);
});
