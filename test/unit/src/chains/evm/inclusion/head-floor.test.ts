import t from 'tap';
import { createHeadFloor, NO_FLOOR } from '../../../../../../src/chains/evm/inclusion/head-floor.ts';

t.test('the floor is the highest block seen, for half a minute', async (t) => {
  let at = 1_000;
  const floor = createHeadFloor({ now: () => 0, elapsed: () => at });
  t.equal(floor.height(), -1n);
  floor.raise(10n);
  floor.raise(7n);
  t.equal(floor.height(), 10n, 'a lower block does not lower it');
  at += 20_000;
  floor.raise(10n);
  at += 20_000;
  t.equal(floor.height(), 10n, 'each sighting keeps it in force');
  at += 10_000;
  t.equal(floor.height(), -1n, 'nobody has reached it');
  floor.raise(7n);
  t.equal(floor.height(), 7n, 'then a lower one counts again');
});

t.test('without one every height will do', async (t) => {
  NO_FLOOR.raise(10n);
  t.equal(NO_FLOOR.height(), -1n);
});
