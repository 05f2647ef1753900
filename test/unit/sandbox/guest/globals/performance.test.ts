import t from 'tap';
import { createEventClasses } from '../../../../../sandbox/guest/globals/events/event-target.ts';
import { create as createPerformance } from '../../../../../sandbox/guest/lazy/performance.ts';

t.test('the clock is the one that is given, and listeners outlive a call', (t) => {
  const events = createEventClasses(() => undefined) as unknown as Record<string, unknown>;
  let changes = 0;
  const { performance, Performance } = createPerformance({
    dom: () => events,
    now: () => 7.5,
    changed: () => {
      changes += 1;
    },
  });
  t.equal(performance.now(), 7.5);
  t.ok(Math.abs(performance.timeOrigin + 7.5 - Date.now()) < 1000);
  t.strictSame(performance.toJSON(), { timeOrigin: performance.timeOrigin });
  performance.addEventListener('x', () => undefined);
  t.equal(changes, 1);
  t.throws(() => new Performance(), TypeError);
  t.end();
});
