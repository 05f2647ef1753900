import t from 'tap';
import { HeardCounts } from '../../../../src/engine/heard-counts.ts';

t.test('a count is as old as the first that was about the same', async (t) => {
  const heard = new HeardCounts();
  t.equal(heard.of('a'), undefined);
  heard.note('a', 100n, 5);
  heard.note('a', 150n, 9);
  t.strictSame(heard.of('a'), { chain: 150n, since: 5 });
  heard.note('a', 1_000n, 12);
  t.strictSame(heard.of('a'), { chain: 1_000n, since: 12 });
  t.equal(heard.of('b'), undefined);
});
