/** Threat: an observer that never takes what it has asked for. */
import t from 'tap';
import { createPerformanceObservers } from '../../../../../sandbox/guest/globals/performance-observers.ts';
import { unbound } from '../../../../support/guest-web.ts';

type Entry = { name: string; entryType: string; startTime: number };
const entry = (name: string, startTime = 0, entryType = 'mark'): Entry => ({ name, entryType, startTime });

t.test('tells of what was asked for, a turn later and sorted', (t) => {
  const turns: (() => void)[] = [];
  const { classes, tell } = createPerformanceObservers((callback) => turns.push(callback), unbound);
  const seen: Entry[][] = [];
  const observer = new classes.PerformanceObserver((list: { getEntries(): Entry[] }) => seen.push(list.getEntries()));
  tell(entry('before'));
  observer.observe({ entryTypes: ['mark', 'nonsense'] });
  tell(entry('b', 2));
  tell(entry('a', 1));
  tell(entry('measure', 1, 'measure'));
  t.equal(turns.length, 1);
  turns.shift()?.();
  t.strictSame(seen, [[entry('a', 1), entry('b', 2)]]);
  tell(entry('taken'));
  t.strictSame(observer.takeRecords(), [entry('taken')]);
  turns.shift()?.();
  observer.disconnect();
  tell(entry('after'));
  t.equal(seen.length, 1);
  t.end();
});

t.test('keeps so many entries, and takes functions and one way of asking only', (t) => {
  const { classes, tell } = createPerformanceObservers(() => undefined, unbound);
  const observer = new classes.PerformanceObserver(() => undefined);
  t.throws(() => observer.observe({}), TypeError);
  t.throws(() => observer.observe({ type: 'mark', entryTypes: ['mark'] }), TypeError);
  t.throws(() => new classes.PerformanceObserver(5), TypeError);
  t.throws(() => new classes.PerformanceObserverEntryList(undefined, []), TypeError);
  observer.observe({ type: 'mark' });
  for (let index = 0; index < 10_005; index++) tell(entry(String(index)));
  const kept = observer.takeRecords();
  t.strictSame([kept.length, kept[0]?.name], [10_000, '5']);
  t.strictSame(classes.PerformanceObserver.supportedEntryTypes, ['mark', 'measure']);
  t.end();
});

t.test('an observer of a call hears nothing of the next one', (t) => {
  let reset = () => {};
  const { classes, tell } = createPerformanceObservers((callback) => callback(), {
    isInCall: () => false,
    atCall: (given) => {
      reset = given;
    },
  });
  const seen: string[] = [];
  new classes.PerformanceObserver(() => seen.push('of the module')).observe({ type: 'mark' });
  reset();
  new classes.PerformanceObserver(() => seen.push('of a call')).observe({ type: 'mark' });
  tell(entry('first'));
  reset();
  tell(entry('second'));
  t.strictSame(seen, ['of the module', 'of a call', 'of the module']);
  t.end();
});
