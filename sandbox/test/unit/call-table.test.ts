import v8 from 'node:v8';
import t from 'tap';
import { fc, runsOf } from '../../../test/support/properties.ts';
import { CallTable } from '../../call-table.ts';
import { collectGarbage } from '../support/collect-garbage.ts';

t.test('it holds what a Map would hold, whatever comes and goes', (t) => {
  const call = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0xffff_ff00, max: 0xffff_ffff }));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), call, value: fc.integer() }),
    fc.record({ kind: fc.constant('delete' as const), call }),
    fc.record({ kind: fc.constant('row' as const), call, length: fc.integer({ min: 1, max: 80 }) }),
    fc.record({ kind: fc.constant('clear' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new CallTable<number>();
      const map = new Map<number, number>();
      for (const one of steps) {
        if (one.kind === 'clear') {
          table.clear();
          map.clear();
        } else if (one.kind === 'delete') {
          if (table.delete(one.call) !== map.delete(one.call)) return false;
        } else if (one.kind === 'row') {
          for (let at = 0; at < one.length; at += 1) {
            table.set(one.call + at, at);
            map.set(one.call + at, at);
          }
        } else {
          table.set(one.call, one.value);
          map.set(one.call, one.value);
        }
        if (table.size !== map.size) return false;
        if ([...map].some(([known, value]) => table.get(known) !== value || !table.has(known))) return false;
        const entries = new Map(table.entries());
        if (entries.size !== map.size || [...table.values()].length !== map.size) return false;
      }
      return !table.has(41) || map.has(41);
    }),
    { numRuns: runsOf(300) },
  );
  t.pass('for every sequence that was tried');
  t.end();
});

t.test('calls that take long stay while others come and go', (t) => {
  const table = new CallTable<number>();
  for (let call = 1; call <= 100_000; call += 1) {
    table.set(call, -call);
    if (call % 1000 !== 0) table.delete(call);
  }
  t.equal(table.size, 100);
  t.strictSame(
    [...table.entries()].map(([call]) => call).sort((a, b) => a - b),
    Array.from({ length: 100 }, (_, at) => (at + 1) * 1000),
  );
  t.equal(table.get(50_000), -50_000);
  t.equal(table.get(50_001), undefined);
  t.notOk(table.delete(50_001), 'what is not there cannot be deleted');
  t.end();
});

t.test('what was deleted does not outlive the young generation, after a full collection either', (t) => {
  const table = new CallTable<object>();
  const inFlight = 32;
  const churn = (from: number, count: number): void => {
    for (let call = from; call < from + count; call += 1) {
      table.set(call, { call, context: [call, call, call, call], answer: { call } });
      table.delete(call - inFlight);
    }
  };
  churn(1, 1000);
  collectGarbage();
  churn(1001, 50_000);
  const before = oldBytes();
  // About 100 MB, of which a Map in place of the table would have made 40 MB old.
  churn(51_001, 500_000);
  const grownMb = (oldBytes() - before) / 1e6;
  t.ok(grownMb < 8, `${grownMb.toFixed(1)} MB of half a million calls have become old`);
  t.end();
});

function oldBytes(): number {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  return space?.space_used_size ?? Number.NaN;
}
