import t from 'tap';
import { createPerformance } from '../../../../../sandbox/guest/globals/performance.ts';

t.test('counts from its origin', (t) => {
  const { now, timeOrigin, toJSON } = createPerformance(() => 5) as Performance;
  t.equal(now(), 5);
  t.ok(Math.abs(Date.now() - 5 - timeOrigin) < 60_000);
  t.strictSame(toJSON(), { timeOrigin });
  t.end();
});
