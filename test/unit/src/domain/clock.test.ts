import t from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';

t.test('now is the wall clock, elapsed never goes back', (t) => {
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1000);
  const first = systemClock.elapsed();
  t.ok(systemClock.elapsed() >= first);
  t.end();
});
