import t from 'tap';
import { HeardCounts } from '../../../../src/engine/heard-counts.ts';

t.test('a count is as old as the first that was about the same', async (t) => {
  const heard = new HeardCounts();
  t.equal(heard.of('a', 12), undefined);
  heard.note('a', 100n, 5);
  heard.note('a', 150n, 9);
  t.strictSame(heard.of('a', 12), { chain: 150n, since: 5 });
  heard.note('a', 1_000n, 12);
  t.strictSame(heard.of('a', 12), { chain: 1_000n, since: 12 });
  t.equal(heard.of('b', 12), undefined);
});

t.test('one that was last heard long ago says nothing any more', async (t) => {
  const heard = new HeardCounts();
  heard.note('a', 100n, 0);
  heard.note('a', 110n, 500_000);
  t.strictSame(heard.of('a', 1_100_000), { chain: 110n, since: 0 });
  t.equal(heard.of('a', 1_100_001), undefined);
});
