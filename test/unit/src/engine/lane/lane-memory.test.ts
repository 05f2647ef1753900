import t from 'tap';
import { LaneMemory } from '../../../../../src/engine/lane/lane-memory.ts';

t.test('a new memory knows nothing, and doubts the chain for as long as it is told', (t) => {
  const memory = new LaneMemory(100);
  t.strictSame([memory.offers.size, memory.ages.size, memory.pool.standsFor(5)], [0, 0, undefined]);
  const behind = { chain: 5n, held: new Set([7n]), settled: 5n };
  t.match(memory.planner.plan(behind, 1, 0), { kind: 'wait' });
  t.match(memory.planner.plan(behind, 1, 99), { kind: 'wait' });
  t.strictSame(memory.planner.plan(behind, 1, 100), { kind: 'use', sequences: [5n] });
  t.end();
});
