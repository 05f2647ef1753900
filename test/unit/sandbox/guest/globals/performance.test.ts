import t from 'tap';
import { createEventClasses } from '../../../../../sandbox/guest/globals/events/event-target.ts';
import { createPerformanceClasses } from '../../../../../sandbox/guest/globals/performance.ts';
import { unbound } from '../../../../support/guest-web.ts';

let time = 5;
const made = createPerformanceClasses(
  { ...createEventClasses(() => undefined), DOMException, structuredClone },
  () => time,
  setImmediate,
  unbound,
);
const performance = made.performance as unknown as Performance;

t.test('counts from its origin', (t) => {
  t.equal(performance.now(), 5);
  t.ok(Math.abs(Date.now() - 5 - performance.timeOrigin) < 60_000);
  t.strictSame(performance.toJSON(), { timeOrigin: performance.timeOrigin });
  t.equal(String(performance), '[object Performance]');
  t.throws(() => new made.Performance(), TypeError);
  t.end();
});

t.test('marks and measures', (t) => {
  performance.mark('a');
  time = 20;
  performance.mark('b', { detail: { x: 1 }, startTime: 12 });
  const shown = ({ name, entryType, startTime, duration }: PerformanceEntry) => [name, entryType, startTime, duration];
  t.strictSame(
    [
      performance.measure('all'),
      performance.measure('from', 'a'),
      performance.measure('between', 'a', 'b'),
      performance.measure('given', { start: 'a', duration: 3 }),
      performance.measure('back', { end: 10, duration: 4 }),
      performance.measure('both', { start: 1, end: 'b' }),
    ].map(shown),
    [
      ['all', 'measure', 0, 20],
      ['from', 'measure', 5, 15],
      ['between', 'measure', 5, 7],
      ['given', 'measure', 5, 3],
      ['back', 'measure', 6, 4],
      ['both', 'measure', 1, 11],
    ],
  );
  t.strictSame(performance.getEntriesByType('mark').map(shown), [
    ['a', 'mark', 5, 0],
    ['b', 'mark', 12, 0],
  ]);
  t.strictSame((performance.getEntriesByName('b')[0] as PerformanceMark).detail, { x: 1 });
  t.equal(performance.getEntriesByName('b', 'measure').length, 0);
  t.match(JSON.parse(JSON.stringify(performance.getEntriesByName('a')[0])), { name: 'a' });
  t.throws(() => performance.measure('x', 'nowhere'), { name: 'SyntaxError' });
  t.throws(() => performance.measure('x', { detail: 1 }), TypeError);
  t.throws(() => performance.measure('x', { start: -1 }), TypeError);
  t.throws(() => performance.measure('x', { start: 1 }, 'a'), TypeError);
  t.throws(() => performance.mark('x', { startTime: -1 }), TypeError);
  performance.clearMarks('a');
  performance.clearMeasures();
  t.strictSame(
    performance.getEntries().map(({ name }) => name),
    ['b'],
  );
  performance.clearMarks();
  t.strictSame(performance.getEntries(), []);
  for (let mark = 0; mark < 10_005; mark++) performance.mark('many');
  t.equal(performance.getEntries().length, 10_000);
  t.throws(
    () => new made.PerformanceEntry(undefined, { name: '', entryType: '', startTime: 0, duration: 0 }),
    TypeError,
  );
  t.end();
});

t.test('what a call has measured ends with it, and its listeners are told of', (t) => {
  for (const isInCall of [false, true]) {
    const changes: string[] = [];
    let reset = () => {};
    const { performance } = createPerformanceClasses(
      { ...createEventClasses(() => undefined), DOMException, structuredClone },
      () => 0,
      setImmediate,
      {
        isInCall: () => isInCall,
        atCall: (given) => {
          reset = given;
        },
        changed: () => changes.push('told'),
      },
    );
    const names = () => performance.getEntries().map(({ name }) => name);
    performance.mark('before');
    reset();
    performance.mark('of a call', { detail: 'secret' });
    performance.clearMarks('before');
    performance.addEventListener('own', () => undefined);
    t.strictSame(changes, ['told']);
    reset();
    t.strictSame(names(), isInCall ? [] : ['before'], 'what the module has made stays');
  }
  t.end();
});
