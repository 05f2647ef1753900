import t from 'tap';
import { PoolWatch } from '../../../../../src/engine/lane/lane-memory.ts';

t.test('a node is asked when a block has made room, and else more rarely', (t) => {
  const pool = new PoolWatch();
  t.ok(pool.isDue(7, 100), 'the first time');
  t.equal(pool.ask(7), false);
  t.notOk(pool.isDue(506, 100));
  t.ok(pool.isDue(507, 100));
  pool.moved(100);
  t.notOk(pool.isDue(106, 100));
  t.ok(pool.isDue(107, 100));
  t.equal(pool.ask(107), true);
  t.notOk(pool.isDue(207, 100), 'the room is used up');
  t.end();
});

t.test('how long nothing has got into a block', (t) => {
  const pool = new PoolWatch();
  t.equal(pool.standsFor(5), undefined);
  pool.moved(5);
  t.equal(pool.standsFor(12), 7);
  t.end();
});
