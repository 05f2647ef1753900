import t from 'tap';
import { cachedFor, freshShared } from '../../../../../../src/chains/evm/price/single-flight.ts';
import type { Clock } from '../../../../../../src/domain/clock.ts';

class ManualClock implements Clock {
  time = 0;
  now(): number {
    return this.time;
  }
  elapsed(): number {
    return this.time;
  }
}

/** Loads that the test ends. */
function controlled() {
  const loads: PromiseWithResolvers<number>[] = [];
  const load = () => {
    const next = Promise.withResolvers<number>();
    loads.push(next);
    return next.promise;
  };
  return { loads, load };
}

t.test('a burst loads once, and again when the value is old', async (t) => {
  const clock = new ManualClock();
  const { loads, load } = controlled();
  const get = cachedFor(100, clock, load);
  const burst = [get(), get(), get()];
  loads[0]?.resolve(1);
  t.same(await Promise.all(burst), [1, 1, 1]);
  clock.time = 99;
  t.equal(await get(), 1);
  clock.time = 100;
  const later = get();
  loads[1]?.resolve(2);
  t.equal(await later, 2);
  t.equal(loads.length, 2);
});

t.test('a failure is not remembered', async (t) => {
  const { loads, load } = controlled();
  const get = cachedFor(100, new ManualClock(), load);
  const failing = [get(), get()];
  loads[0]?.reject(new Error('down'));
  for (const call of failing) await t.rejects(call, { message: 'down' });
  const next = get();
  loads[1]?.resolve(3);
  t.equal(await next, 3);
});

t.test('nobody gets the result of a load that began before the question', async (t) => {
  const { loads, load } = controlled();
  const get = freshShared(load);
  const first = get('a');
  const second = get('a');
  const third = get('a');
  t.equal(loads.length, 1, 'those who come later wait');
  loads[0]?.resolve(1);
  t.equal(await first, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(loads.length, 2, 'and then share one load');
  loads[1]?.resolve(2);
  t.same(await Promise.all([second, third]), [2, 2]);
  const fourth = get('a');
  loads[2]?.resolve(4);
  t.equal(await fourth, 4);
});

t.test('a failed load holds up nobody, and keys do not meet', async (t) => {
  const { loads, load } = controlled();
  const get = freshShared(load);
  const failing = get('a');
  const waiting = get('a');
  const other = get('b');
  t.equal(loads.length, 2);
  loads[0]?.reject(new Error('down'));
  await t.rejects(failing, { message: 'down' });
  await new Promise((resolve) => setImmediate(resolve));
  loads[1]?.resolve(7);
  loads[2]?.resolve(8);
  t.equal(await other, 7);
  t.equal(await waiting, 8);
});
