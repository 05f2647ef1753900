import t from 'tap';
import { type SequenceFigures, SequencePlanner } from '../../../../src/engine/sequence-planner.ts';

const doubts = { driftMs: 100, lossMs: 300 };
/** What a chain tells that proves what it is asked to. */
const told = (chain: bigint, more: Partial<SequenceFigures> = {}): SequenceFigures => ({
  chain,
  held: held(),
  known: 8n,
  settled: null,
  mined: null,
  paidFor: () => 0n,
  isLost: async () => true,
  isNoFurther: async () => true,
  ...more,
});
const held = (...sequences: bigint[]) => new Set(sequences);

t.test('an account that never signed begins at the count of the chain', async (t) => {
  const planner = new SequencePlanner(doubts);
  const first = (chain: bigint) => planner.plan(told(chain, { known: null }), 3, 0);
  t.strictSame(await first(0n), { kind: 'use', sequences: [0n, 1n, 2n] });
  t.match(await first(7n), { kind: 'wait' }, 'used before: heard twice');
  t.strictSame(await first(7n), { kind: 'use', sequences: [7n, 8n, 9n] });
});

t.test('what is open and unknown to the node is not used again', async (t) => {
  const plan = await new SequencePlanner(doubts).plan(told(5n, { held: held(5n, 6n, 7n) }), 2, 0);
  t.strictSame(plan, { kind: 'use', sequences: [8n, 9n] });
});

t.test('a chain that is ahead is believed when heard twice: somebody else used the key', async (t) => {
  const planner = new SequencePlanner(doubts);
  const ahead = (chain: bigint) => planner.plan(told(chain, { held: held(7n) }), 1, 0);
  t.match(await ahead(12n), { kind: 'wait', reason: /sequence 12 .*; asking once more$/ });
  t.strictSame(await ahead(13n), { kind: 'use', sequences: [13n] }, 'who uses it goes on');
});

t.test('what is told when gaps are looked for says nothing of what is told when payments are signed', async (t) => {
  const planner = new SequencePlanner(doubts);
  const ahead = told(12n, { held: held(7n) });
  t.strictSame(await planner.gaps(ahead, 0), []);
  t.match(await planner.plan(ahead, 1, 0), { kind: 'wait' }, 'one question, asked for two reasons');
  t.strictSame(await planner.gaps(told(7n, { held: held(7n) }), 1), [], 'an endpoint that is stuck');
  t.strictSame(await planner.plan(ahead, 1, 2), { kind: 'use', sequences: [12n] });
});

t.test('a made-up count that is far ahead is not followed', async (t) => {
  const planner = new SequencePlanner(doubts);
  const at = (chain: bigint) => planner.plan(told(chain), 1, 0);
  t.match(await at(10n ** 12n), { kind: 'wait' });
  t.strictSame(await at(8n), { kind: 'use', sequences: [8n] });
  t.match(await at(10n ** 12n), { kind: 'wait' }, 'counted from anew');
  t.match(await at(9n), { kind: 'wait' });
  t.strictSame(await at(9n), { kind: 'use', sequences: [9n] });
});

t.test('a node that lags behind makes the lane wait, and is forgotten once it has caught up', async (t) => {
  const planner = new SequencePlanner(doubts);
  t.match(await planner.plan(told(3n), 1, 0), {
    kind: 'wait',
    reason: /sequence 3 .* up to 7/,
  });
  t.match(await planner.plan(told(8n), 1, 90), { kind: 'use', sequences: [8n] });
  t.match(await planner.plan(told(3n), 1, 110), { kind: 'wait' }, 'counted from anew');
});

t.test('a gap below open transactions is not for payments: the node may be behind', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(4n, { held: held(6n, 7n), settled: 4n });
  t.match(await planner.plan(figures, 3, 0), { kind: 'wait' });
  t.ok(planner.isContradicted);
  t.match(await planner.plan(figures, 3, 10_000), { kind: 'wait' });
  t.strictSame(await planner.gaps(figures, 10_000), [4n, 5n], 'it is for what pays nobody');
  t.strictSame(await planner.plan(told(8n, { held: held(4n, 5n, 6n, 7n) }), 1, 10_001), {
    kind: 'use',
    sequences: [8n],
  });
  t.notOk(planner.isContradicted);
});

t.test('what was final is only taken for lost when that is proved, however long it is told', async (t) => {
  const planner = new SequencePlanner(doubts);
  const behind = told(0n, { held: held(9n), known: 10n, settled: 6n, isLost: async () => false });
  for (const elapsed of [0, 300, 3_600_000]) {
    t.match(await planner.plan(behind, 1, elapsed), { kind: 'wait', reason: /expects sequence 0/ });
    t.strictSame(await planner.gaps(behind, elapsed), []);
  }
  const lost = { ...behind, isLost: async () => true };
  t.strictSame(await planner.plan(lost, 2, 3_600_001), { kind: 'use', sequences: [0n, 1n] });
  t.equal((await planner.gaps(lost, 3_600_001)).length, 9);
});

t.test('nobody is asked for a proof before it has been told for long', async (t) => {
  const planner = new SequencePlanner(doubts);
  let asked = 0;
  const isLost = async () => ((asked += 1), true);
  for (const elapsed of [0, 299]) await planner.plan(told(0n, { settled: 6n, isLost }), 1, elapsed);
  t.equal(asked, 0);
});

t.test('a chain that has lost what was final is believed only after much longer', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(0n, { settled: 6n });
  await planner.plan(figures, 1, 0);
  t.match(await planner.plan(figures, 1, 299), { kind: 'wait' });
  t.strictSame(await planner.plan(figures, 1, 300), { kind: 'use', sequences: [0n] });
});

t.test('a chain that has lost its past is not asked for a proof of it again for each sequence', async (t) => {
  const planner = new SequencePlanner(doubts);
  let asked = 0;
  const isLost = async () => ((asked += 1), true);
  await planner.plan(told(0n, { known: 6n, settled: 6n, isLost }), 1, 0);
  for (let next = 0n; next < 6n; next += 1n) {
    const figures = told(next, { held: held(next), known: 6n, settled: 6n, isLost });
    t.strictSame(
      await planner.plan(figures, 1, 300),
      { kind: 'use', sequences: [next + 1n] },
      'while one is on its way',
    );
    t.strictSame(await planner.gaps(figures, 300), []);
  }
  t.equal(asked, 1);
  t.match(await planner.plan(told(6n, { known: 6n, settled: 6n, isLost }), 1, 301), { kind: 'use' });
  t.match(await planner.plan(told(2n, { known: 6n, settled: 6n, isLost }), 1, 302), { kind: 'wait' }, 'a node behind');
});

t.test('a gap is one when the chain has asked for it long enough, and nothing above waits in vain', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(4n, { held: held(6n, 9n), known: 10n, settled: 4n });
  t.strictSame(await planner.gaps(figures, 0), []);
  t.strictSame(await planner.gaps(figures, 99), []);
  t.strictSame(await planner.gaps(figures, 100), [4n, 5n, 7n, 8n]);
  t.strictSame(await planner.gaps({ ...figures, chain: 10n }, 101), [], 'the chain has gone on');
  t.strictSame(await planner.gaps(figures, 102), [], 'counted from anew');
});

t.test('what a lagging node still waits for is no gap', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(4n, { held: held(6n), known: 7n, settled: 6n });
  await planner.gaps(figures, 0);
  t.strictSame(await planner.gaps(figures, 299), []);
});

t.test('a wide gap is filled in parts, one that is wider not at all', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(0n, { held: held(256n), known: 257n });
  await planner.gaps(figures, 0);
  const gaps = await planner.gaps(figures, 100);
  t.equal(gaps.length, 32);
  t.equal(gaps[0], 0n);

  const wider = told(0n, { held: held(257n), known: 258n });
  for (const elapsed of [0, 100, 3_600_000]) t.strictSame(await planner.gaps(wider, elapsed), []);
  const both = told(0n, { held: held(2n, 260n), known: 261n });
  await planner.gaps(both, 3_600_000);
  t.strictSame(await planner.gaps(both, 3_600_100), [0n, 1n], 'below what is within reach');
});

t.test('a count that creeps upward is not followed by narrow leaps beyond what one of them may be', async (t) => {
  const planner = new SequencePlanner(doubts);
  const signed = new Set<bigint>();
  for (const chain of [64n, 129n, 194n, 259n]) {
    const known = [...signed].at(-1);
    const figures = { held: new Set(signed), known: known === undefined ? null : known + 1n };
    await planner.plan(told(chain, figures), 1, 0);
    const plan = await planner.plan(told(chain, figures), 1, 1);
    if (plan.kind === 'use') for (const sequence of plan.sequences) signed.add(sequence);
  }
  t.strictSame([...signed], [64n, 129n]);
});

t.test('what was filled below one does not bring the account nearer to it', async (t) => {
  const planner = new SequencePlanner(doubts);
  const paidFor = (sequence: bigint) => (sequence > 300n ? 256n : 0n);
  const figures = told(298n, { held: held(300n, 302n), known: 303n, settled: 298n, paidFor });
  await planner.gaps(figures, 0);
  t.strictSame(await planner.gaps(figures, 100), [298n, 299n]);
  const further = { ...figures, chain: 301n, held: held(302n), settled: 301n };
  for (const elapsed of [101, 201, 500]) t.strictSame(await planner.gaps(further, elapsed), []);
  t.ok(planner.isStranded(302n));
});

t.test('a made-up count is not signed at first contact, but a true one is when it was heard before', async (t) => {
  const fresh = { known: null };
  const planner = new SequencePlanner(doubts);
  for (const elapsed of [0, 1, 99]) {
    const plan = await planner.plan(told(1_000_001n, fresh), 1, elapsed);
    t.match(plan, { kind: 'wait', withinMs: 13 }, 'asked often, so that the wait does not last much longer');
  }
  t.strictSame(await planner.plan(told(0n, fresh), 1, 99), { kind: 'use', sequences: [0n] });

  const used = new SequencePlanner(doubts, { chain: 5_000n, since: 0 });
  t.match(await used.plan(told(5_000n, fresh), 1, 100), { kind: 'wait' });
  t.strictSame(await used.plan(told(5_000n, fresh), 2, 101), { kind: 'use', sequences: [5_000n, 5_001n] });
  const next = told(5_001n, { held: held(5_000n, 5_001n), known: 5_002n });
  t.strictSame(await used.plan(next, 1, 102), { kind: 'use', sequences: [5_002n] }, 'what follows waits no more');
});

t.test('what is signed far beyond the count is passed by once the count is proved', async (t) => {
  const planner = new SequencePlanner(doubts);
  let asked = 0;
  let isTrue = false;
  const isNoFurther = async (from: bigint) => (t.equal(from, 1_000n), (asked += 1), isTrue);
  const figures = told(0n, { held: held(1_000n, 1_001n), known: 1_002n, isNoFurther });
  t.match(await planner.plan(figures, 1, 0), { kind: 'wait', reason: /expects sequence 0 .* up to 1001/ });
  t.match(await planner.plan(figures, 1, 299), { kind: 'wait' });
  t.equal(asked, 0, 'not before it was told for long');
  t.match(await planner.plan(figures, 1, 300), { kind: 'wait' }, 'the node may only be behind');
  t.notOk(planner.isStranded(1_000n));
  isTrue = true;
  t.strictSame(await planner.plan(figures, 2, 301), { kind: 'use', sequences: [0n, 1n] });
  t.strictSame(
    [0n, 999n, 1_000n, 1_001n, null].map((sequence) => planner.isStranded(sequence)),
    [false, false, true, true, false],
  );
  const later = told(2n, { held: held(0n, 1n, 1_000n, 1_001n), known: 1_002n });
  t.strictSame(await planner.plan(later, 1, 302), { kind: 'use', sequences: [2n] });
  const lagging = { ...later, chain: 1n, held: held(1_000n, 1_001n), settled: 2n, isLost: async () => false };
  t.match(await planner.plan(lagging, 1, 10_000), { kind: 'wait' }, 'a node that lags loses no payment');
});

t.test('a count near what was signed beyond is no better known than before', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = told(0n, { held: held(1_000n), known: 1_001n });
  await planner.plan(figures, 1, 0);
  await planner.plan(figures, 1, 300);
  t.match(await planner.plan({ ...figures, chain: 1_000n }, 1, 301), { kind: 'wait', reason: /asking once more/ });
  t.strictSame(await planner.gaps({ ...figures, chain: 990n }, 302), []);
  t.strictSame(await planner.plan(figures, 1, 303), { kind: 'use', sequences: [0n] }, 'and the proof holds');
});

t.test('a doubt ends when the account is as far as it should be', async (t) => {
  const planner = new SequencePlanner(doubts);
  const figures = (chain: bigint) => told(chain, { held: held(1_000n), settled: 1_000n, known: 1_001n });
  await planner.plan(figures(0n), 1, 0);
  t.strictSame(await planner.plan(figures(1_000n), 1, 200), { kind: 'use', sequences: [1_001n] });
  t.match(await planner.plan(figures(0n), 1, 300), { kind: 'wait' });
  t.notOk(planner.isStranded(1_000n));
});

t.test('when the account gets to the first of those beyond, the next ones are no new doubt', async (t) => {
  const planner = new SequencePlanner(doubts);
  const at = (chain: bigint, beyond = [300n, 1_000n]) =>
    told(chain, { held: held(...beyond), known: 2_001n, settled: chain === 0n ? null : chain });
  await planner.plan(at(0n), 1, 0);
  t.strictSame(await planner.plan(at(0n), 1, 300), { kind: 'use', sequences: [0n] });
  t.strictSame(await planner.plan(at(301n, [1_000n]), 1, 301), { kind: 'use', sequences: [301n] });
  t.ok(planner.isStranded(1_000n));
  t.match(await planner.plan(at(302n, [2_000n]), 1, 302), { kind: 'wait' }, 'what was signed since is one');
  t.notOk(planner.isStranded(2_000n));
});
