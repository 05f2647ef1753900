import t from 'tap';
import { type CountedBy, LateCounts } from '../../../../src/observability/late-counts.ts';

t.test('what was added is handed out once, by its labels', async (t) => {
  const counts = new LateCounts();
  counts.add(1, 'a', 'x', 200);
  counts.add(1, 'a', 'x', 200);
  counts.add(1, 'a', 'x', 500);
  counts.add(5, 'b');
  counts.add(-2, 'b');
  counts.add(1, 'c', 'y');
  const taken: [CountedBy, number][] = [];
  counts.takeOver((by, amount) => taken.push([by, amount]));
  t.strictSame(taken, [
    [['a', 'x', 200], 2],
    [['a', 'x', 500], 1],
    [['b', undefined, undefined], 3],
    [['c', 'y', undefined], 1],
  ]);
  counts.takeOver(() => t.fail('there is nothing new'));
  counts.add(1, 'c', 'y');
  counts.takeOver((by, amount) => t.strictSame([by, amount], [['c', 'y', undefined], 1]));
});
