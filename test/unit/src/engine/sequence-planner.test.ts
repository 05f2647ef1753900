import t from 'tap';
import { SequencePlanner } from '../../../../src/engine/sequence-planner.ts';

const doubts = { driftMs: 100, lossMs: 300 };
const held = (...sequences: bigint[]) => new Set(sequences);

t.test('an account that never signed begins at the count of the chain', async (t) => {
  const planner = new SequencePlanner(doubts);
  const first = (chain: bigint) => planner.plan({ chain, held: held(), known: null, settled: null }, 3, 0);
  t.strictSame(first(0n), { kind: 'use', sequences: [0n, 1n, 2n] });
  t.match(first(7n), { kind: 'wait' }, 'used before: heard twice');
  t.strictSame(first(7n), { kind: 'use', sequences: [7n, 8n, 9n] });
});

t.test('what is open and unknown to the node is not used again', async (t) => {
  const plan = new SequencePlanner(doubts).plan({ chain: 5n, held: held(5n, 6n, 7n), known: 8n, settled: null }, 2, 0);
  t.strictSame(plan, { kind: 'use', sequences: [8n, 9n] });
});

t.test('a chain that is ahead is believed when heard twice: somebody else used the key', async (t) => {
  const planner = new SequencePlanner(doubts);
  const ahead = (chain: bigint) => planner.plan({ chain, held: held(7n), known: 8n, settled: null }, 1, 0);
  t.match(ahead(12n), { kind: 'wait', reason: /sequence 12 .*; asking once more$/ });
  t.strictSame(ahead(13n), { kind: 'use', sequences: [13n] }, 'who uses it goes on');
});

t.test('a made-up count that is far ahead is not followed', async (t) => {
  const planner = new SequencePlanner(doubts);
  const at = (chain: bigint) => planner.plan({ chain, held: held(), known: 8n, settled: null }, 1, 0);
  t.match(at(10n ** 12n), { kind: 'wait' });
  t.strictSame(at(8n), { kind: 'use', sequences: [8n] });
  t.match(at(10n ** 12n), { kind: 'wait' }, 'counted from anew');
  t.match(at(9n), { kind: 'wait' });
  t.strictSame(at(9n), { kind: 'use', sequences: [9n] });
});

t.test('a node that lags behind makes the lane wait, and is forgotten once it has caught up', async (t) => {
  const planner = new SequencePlanner(doubts);
  t.match(planner.plan({ chain: 3n, held: held(), known: 8n, settled: null }, 1, 0), {
    kind: 'wait',
    reason: /sequence 3 .* up to 7/,
  });
  t.match(planner.plan({ chain: 8n, held: held(), known: 8n, settled: null }, 1, 90), { kind: 'use', sequences: [8n] });
  t.match(
    planner.plan({ chain: 3n, held: held(), known: 8n, settled: null }, 1, 110),
    { kind: 'wait' },
    'counted from anew',
  );
});

t.test('a chain that keeps contradicting us is believed: a development chain was started anew', async (t) => {
  const planner = new SequencePlanner(doubts);
  planner.plan({ chain: 0n, held: held(), known: 8n, settled: null }, 1, 0);
  t.strictSame(planner.plan({ chain: 0n, held: held(), known: 8n, settled: null }, 2, 100), {
    kind: 'use',
    sequences: [0n, 1n],
  });
  t.strictSame(planner.plan({ chain: 1n, held: held(1n), known: 8n, settled: null }, 1, 101), {
    kind: 'use',
    sequences: [2n],
  });
});

t.test('a gap below open transactions is filled from below', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = { chain: 4n, held: held(6n, 7n), known: 8n, settled: null };
  t.match(planner.plan(figures, 3, 0), { kind: 'wait' });
  t.strictSame(planner.plan(figures, 3, 100), { kind: 'use', sequences: [4n, 5n, 8n] });
});

t.test('a chain that has lost what was final is believed only after much longer', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = { chain: 0n, held: held(), known: 8n, settled: 6n };
  planner.plan(figures, 1, 0);
  t.match(planner.plan(figures, 1, 299), { kind: 'wait' });
  t.strictSame(planner.plan(figures, 1, 300), { kind: 'use', sequences: [0n] });
});

t.test('a gap is one when the chain has asked for it long enough, and nothing above waits in vain', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = { chain: 4n, held: held(6n, 9n), known: 10n, settled: 4n };
  t.strictSame(planner.gaps(figures, 0), []);
  t.strictSame(planner.gaps(figures, 99), []);
  t.strictSame(planner.gaps(figures, 100), [4n, 5n, 7n, 8n]);
  t.strictSame(planner.gaps({ ...figures, chain: 10n }, 101), [], 'the chain has gone on');
  t.strictSame(planner.gaps(figures, 102), [], 'counted from anew');
});

t.test('what a lagging node still waits for is no gap', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = { chain: 4n, held: held(6n), known: 7n, settled: 6n };
  planner.gaps(figures, 0);
  t.strictSame(planner.gaps(figures, 299), []);
});

t.test('a very wide gap is filled in parts', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = { chain: 0n, held: held(100_000n), known: 100_001n, settled: null };
  planner.gaps(figures, 0);
  const gaps = planner.gaps(figures, 100);
  t.equal(gaps.length, 32);
  t.equal(gaps[0], 0n);
});
