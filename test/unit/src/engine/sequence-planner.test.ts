import t from 'tap';
import { SequencePlanner } from '../../../../src/engine/sequence-planner.ts';

const held = (...sequences: bigint[]) => new Set(sequences);

t.test('an account that never signed begins at the count of the chain', async (t) => {
  const planner = new SequencePlanner(100);
  const first = (chain: bigint) => planner.plan({ chain, held: held(), known: null }, 3, 0);
  t.strictSame(first(0n), { kind: 'use', sequences: [0n, 1n, 2n] });
  t.match(first(7n), { kind: 'wait' }, 'used before: heard twice');
  t.strictSame(first(7n), { kind: 'use', sequences: [7n, 8n, 9n] });
});

t.test('what is open and unknown to the node is not used again', async (t) => {
  const plan = new SequencePlanner(100).plan({ chain: 5n, held: held(5n, 6n, 7n), known: 8n }, 2, 0);
  t.strictSame(plan, { kind: 'use', sequences: [8n, 9n] });
});

t.test('a chain that is ahead is believed when heard twice: somebody else used the key', async (t) => {
  const planner = new SequencePlanner(100);
  const ahead = (chain: bigint) => planner.plan({ chain, held: held(7n), known: 8n }, 1, 0);
  t.match(ahead(12n), { kind: 'wait', reason: /sequence 12 .*; asking once more$/ });
  t.strictSame(ahead(13n), { kind: 'use', sequences: [13n] }, 'who uses it goes on');
});

t.test('a made-up count that is far ahead is not followed', async (t) => {
  const planner = new SequencePlanner(100);
  const at = (chain: bigint) => planner.plan({ chain, held: held(), known: 8n }, 1, 0);
  t.match(at(10n ** 12n), { kind: 'wait' });
  t.strictSame(at(8n), { kind: 'use', sequences: [8n] });
  t.match(at(10n ** 12n), { kind: 'wait' }, 'counted from anew');
  t.match(at(9n), { kind: 'wait' });
  t.strictSame(at(9n), { kind: 'use', sequences: [9n] });
});

t.test('a node that lags behind makes the lane wait, and is forgotten once it has caught up', async (t) => {
  const planner = new SequencePlanner(100);
  t.match(planner.plan({ chain: 3n, held: held(), known: 8n }, 1, 0), {
    kind: 'wait',
    reason: /sequence 3 .* up to 7/,
  });
  t.match(planner.plan({ chain: 8n, held: held(), known: 8n }, 1, 90), { kind: 'use', sequences: [8n] });
  t.match(planner.plan({ chain: 3n, held: held(), known: 8n }, 1, 110), { kind: 'wait' }, 'counted from anew');
});

t.test('a chain that keeps contradicting us is believed: a development chain was started anew', async (t) => {
  const planner = new SequencePlanner(100);
  planner.plan({ chain: 0n, held: held(), known: 8n }, 1, 0);
  t.strictSame(planner.plan({ chain: 0n, held: held(), known: 8n }, 2, 100), { kind: 'use', sequences: [0n, 1n] });
  t.strictSame(planner.plan({ chain: 1n, held: held(1n), known: 8n }, 1, 101), { kind: 'use', sequences: [2n] });
});

t.test('a gap below open transactions is filled from below', async (t) => {
  const planner = new SequencePlanner(100);
  const figures = { chain: 4n, held: held(6n, 7n), known: 8n };
  t.match(planner.plan(figures, 3, 0), { kind: 'wait' });
  t.strictSame(planner.plan(figures, 3, 100), { kind: 'use', sequences: [4n, 5n, 8n] });
});
