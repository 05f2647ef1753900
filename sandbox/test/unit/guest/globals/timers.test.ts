import t from 'tap';
import { CallEnd } from '../../../../guest/call-end.ts';
import { Timers } from '../../../../guest/globals/timers.ts';
import { HostLink } from '../../../../guest/host-link.ts';
import { GuestHost } from '../../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  end.begin(100);
  const timers = new Timers(link, end);
  return { host, end, timers, ...timers.globals() };
}

t.test('runs what is due, once, with its arguments', (t) => {
  const { host, timers, setTimeout, setImmediate } = open();
  const seen: unknown[] = [];
  setTimeout((...args: unknown[]) => seen.push(args), 20, 'a', 1);
  setImmediate((...args: unknown[]) => seen.push(args), 'b');
  t.strictSame(
    [...host.timers],
    [
      [1, 20],
      [2, 0],
    ],
  );
  timers.fire(1);
  timers.fire(1);
  timers.fire(2);
  timers.fire(99);
  t.strictSame(seen, [['a', 1], ['b']]);
  t.end();
});

t.test('an interval runs until it is cleared, also by itself', (t) => {
  const { host, timers, setInterval, clearInterval } = open();
  let runs = 0;
  const interval = setInterval(() => {
    runs++;
    if (runs === 2) clearInterval(interval);
  }, 5);
  timers.fire(1);
  t.strictSame([...host.timers], [[1, 5]]);
  timers.fire(1);
  t.equal(runs, 2);
  t.notOk(timers.isHeld(1));
  setInterval(() => {}, 0);
  host.refusal = 'the call is over';
  timers.fire(2);
  t.notOk(timers.isHeld(2), 'one that is not woken again is gone');
  host.refusal = '';
  const quiet = setInterval(() => {}, 5) as { unref(): object };
  quiet.unref();
  timers.fire(3);
  t.strictSame(host.holds, ['3 0', '3 0'], 'an unref’d interval stays so');
  timers.reset();
  host.timers.clear();
  timers.fire(3);
  t.strictSame([...host.timers], [], 'those of an earlier call are forgotten');
  t.end();
});

t.test('handles are objects and numbers', (t) => {
  const { host, setTimeout, clearTimeout } = open();
  const handle = setTimeout(() => {}, 1) as { ref(): object; unref(): object; hasRef(): boolean };
  t.equal(+(handle as unknown as number), 1);
  t.ok(handle.hasRef());
  t.equal(handle.ref(), handle.unref());
  t.notOk(handle.hasRef());
  handle.unref();
  t.equal(handle.ref(), handle);
  t.ok(handle.hasRef());
  t.strictSame(host.holds, ['1 0', '1 1'], 'only changes are told');
  clearTimeout(handle);
  t.notOk(handle.hasRef());
  clearTimeout(setTimeout(() => {}, 1));
  setTimeout(() => {}, 1);
  clearTimeout(3);
  setTimeout(() => {}, 1);
  clearTimeout('4');
  for (const nothing of [undefined, null, {}, 99, Symbol('s')]) clearTimeout(nothing);
  t.equal(host.timers.size, 0);
  t.end();
});

t.test('odd delays and callbacks', (t) => {
  const { host, setTimeout, setInterval, queueMicrotask } = open();
  for (const delay of [undefined, -5, Number.NaN, '7', 1.9, 1e12, {}]) setTimeout(() => {}, delay);
  t.strictSame([...host.timers.values()], [0, 0, 0, 7, 1, 2 ** 31 - 1, 0]);
  for (const bad of [undefined, 'code', {}]) {
    t.throws(() => setTimeout(bad, 1), TypeError);
    t.throws(() => setInterval(bad, 1), TypeError);
    t.throws(() => queueMicrotask(bad), TypeError);
  }
  host.refusal = 'more than 1024 timers are armed';
  t.throws(() => setTimeout(() => {}, 1), new Error('more than 1024 timers are armed'));
  t.end();
});

t.test('what a callback throws ends the call', async (t) => {
  const { host, timers, setTimeout, end, queueMicrotask } = open();
  setTimeout(() => {
    throw new Error('late');
  }, 1);
  timers.fire(1);
  t.match(host.outcome, { kind: 'threw', message: 'late' });
  end.begin(100);
  const order: string[] = [];
  queueMicrotask(() => order.push('first'));
  timers.queueMicrotask((text: string) => order.push(text), ['second']);
  queueMicrotask(() => {
    throw new Error('soon');
  });
  await Promise.resolve();
  t.strictSame(order, ['first', 'second']);
  t.match(host.outcomes[1], { kind: 'threw', message: 'soon' });
});
