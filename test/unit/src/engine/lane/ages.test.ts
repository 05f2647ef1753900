import t from 'tap';
import { Ages } from '../../../../../src/engine/lane/lane-memory.ts';

t.test('an age begins with the date and goes on with the time that really passes', async (t) => {
  const ages = new Ages();
  t.equal(ages.of('one', 1_000, { now: 1_300, elapsed: 50 }), 300);
  t.equal(ages.of('one', 1_000, { now: 5, elapsed: 150 }), 400, 'the clock was set back');
  t.equal(ages.of('one', 1_000, { now: 9_000_000, elapsed: 151 }), 401, 'and ahead');
});

t.test('what is dated ahead of now is new', async (t) => {
  const ages = new Ages();
  t.equal(ages.of('one', 1_000, { now: 10, elapsed: 5 }), 0);
  t.equal(ages.of('one', 1_000, { now: 20, elapsed: 15 }), 10);
});

t.test('how long it is watched hangs on no date', async (t) => {
  const ages = new Ages();
  t.equal(ages.watched('one', 50), 0);
  t.equal(ages.of('one', 1_000, { now: 9_000_000, elapsed: 60 }), 8_999_000);
  t.equal(ages.watched('one', 150), 100);
  t.equal(ages.size, 1);
  ages.forget('one');
  t.equal(ages.watched('one', 200), 0);
});

t.test('another date is another age, and what is forgotten takes no room', async (t) => {
  const ages = new Ages();
  ages.of('one', 1_000, { now: 1_300, elapsed: 50 });
  t.equal(ages.of('one', 1_250, { now: 1_300, elapsed: 50 }), 50);
  t.equal(ages.size, 1);
  ages.forget('one');
  t.equal(ages.size, 0);
});
