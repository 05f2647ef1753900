import t from 'tap';
import { FIXED_LIMITS } from '../../../../../../../sandbox/contract.ts';
import { HeldLocks } from '../../../../../../../src/features/plugins/host/capabilities/held-locks.ts';

t.test('what a call still holds is given back at its end, once', (t) => {
  const locks = new HeldLocks();
  const released: number[] = [];
  const hold = (fence: number) => locks.hold({ name: `lock${fence}`, fence }, () => released.push(fence));
  hold(1);
  hold(2);
  t.strictSame(locks.all, [
    { name: 'lock1', fence: 1 },
    { name: 'lock2', fence: 2 },
  ]);
  t.match(locks.letGo(1), { lock: { name: 'lock1', fence: 1 } });
  t.equal(locks.letGo(1), undefined);
  t.equal(locks.letGo(7), undefined, 'another call’s');
  locks.end();
  locks.end();
  t.strictSame(released, [2]);
  t.strictSame(locks.all, []);
  hold(3);
  t.strictSame(released, [2, 3], 'one that came late is given back at once');
  t.strictSame(locks.all, []);
  t.end();
});

t.test('a call holds so many and no more', (t) => {
  const locks = new HeldLocks();
  for (let fence = 0; fence < FIXED_LIMITS.locks; fence += 1) {
    t.equal(locks.full, false);
    locks.hold({ name: 'l', fence }, () => {});
  }
  t.equal(locks.full, true);
  t.end();
});
