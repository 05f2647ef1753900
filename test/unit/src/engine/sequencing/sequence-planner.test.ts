import t, { type Test } from 'tap';
import { createStellarChain } from '../../../../../src/chains/stellar/index.ts';
import type { Sender } from '../../../../../src/engine/lane/sender.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import {
  type SequenceFigures,
  type SequencePlan,
  SequencePlanner,
  sequenceFigures,
  WIDEST_GAP,
} from '../../../../../src/engine/sequencing/sequence-planner.ts';
import { ADDRESS, EngineWorld } from '../../../../support/engine-world.ts';

const DRIFT_MS = 100;
const planner = () => new SequencePlanner(DRIFT_MS);

const figures = (chain: bigint, held: readonly bigint[] = [], settled: bigint | null = null): SequenceFigures => ({
  chain,
  held: new Set(held),
  settled,
});

/** The result of a plan in short: its sequences, or `waits`. */
const shortly = (plan: SequencePlan) => (plan.kind === 'use' ? plan.sequences : 'waits');

interface Row {
  what: string;
  chain: bigint;
  held?: bigint[];
  settled?: bigint;
  count?: number;
  uses: bigint[] | 'waits';
}

const AT_ONCE: readonly Row[] = [
  { what: 'an account that never signed begins at zero', chain: 0n, count: 3, uses: [0n, 1n, 2n] },
  { what: 'it goes on after what is settled', chain: 8n, settled: 8n, count: 2, uses: [8n, 9n] },
  { what: 'what is open is not used again', chain: 5n, held: [5n, 6n, 7n], settled: 5n, count: 2, uses: [8n, 9n] },
  { what: 'what the node has in its pool is counted', chain: 8n, held: [5n, 6n, 7n], settled: 5n, uses: [8n] },
  { what: 'an account that others have used waits', chain: 7n, uses: 'waits' },
  { what: 'a count beyond what is settled waits', chain: 9n, settled: 8n, uses: 'waits' },
  { what: 'a count beyond what is open waits', chain: 12n, held: [7n], uses: 'waits' },
  { what: 'a count below what is settled waits', chain: 3n, settled: 8n, uses: 'waits' },
  { what: 'a count with a gap below what is open waits', chain: 4n, held: [6n, 7n], settled: 4n, uses: 'waits' },
];

t.test('what is signed at once', (t) => {
  for (const { what, chain, held, settled = null, count = 1, uses } of AT_ONCE) {
    t.strictSame(shortly(planner().plan(figures(chain, held, settled), count, 0)), uses, what);
  }
  t.end();
});

t.test('a higher count is believed when it is heard twice in a row', (t) => {
  const told = (chains: readonly bigint[]) => {
    const one = planner();
    return chains.map((chain) => shortly(one.plan(figures(chain, [7n]), 1, 0)));
  };
  t.strictSame(told([12n, 12n]), ['waits', [12n]]);
  t.strictSame(told([12n, 13n]), ['waits', [13n]], 'whoever uses the key goes on');
  t.strictSame(told([13n, 12n, 12n]), ['waits', 'waits', [12n]], 'not two different words');
  t.strictSame(told([12n, 8n, 12n, 12n]), ['waits', [8n], 'waits', [12n]], 'not with another word in between');

  const one = planner();
  one.plan(figures(12n, [7n]), 1, 0);
  t.equal(shortly(one.plan(figures(12n, [7n, 8n]), 1, 0)), 'waits', 'nor about what has grown since');
  t.match(planner().plan(figures(12n), 1, 0), { reason: /sequence 12 .*asking again$/, withinMs: 0 });
  t.end();
});

t.test('gaps are looked for without a word about leaps', (t) => {
  const one = planner();
  t.strictSame(one.gaps(figures(12n, [7n]), 0), []);
  t.equal(shortly(one.plan(figures(12n, [7n]), 1, 0)), 'waits', 'one question, asked for two reasons');
  t.end();
});

t.test('a count below what is settled is never believed, however long it is told', (t) => {
  const one = planner();
  for (const elapsed of [0, DRIFT_MS, 3_600_000]) {
    t.match(one.plan(figures(3n, [], 8n), 1, elapsed), { kind: 'wait', reason: /sequence 3 .* signed up to 7;/ });
    t.equal(shortly(one.plan(figures(3n, [9n], 8n), 1, elapsed)), 'waits');
    t.strictSame(one.gaps(figures(3n, [9n], 8n), elapsed), []);
  }
  t.strictSame(shortly(one.plan(figures(8n, [], 8n), 1, 3_600_001)), [8n], 'until the node has caught up');
  t.end();
});

t.test('a gap below what is open is one when the chain has told so for long enough', (t) => {
  const behind = figures(4n, [6n, 9n], 4n);
  const one = planner();
  t.notOk(one.isContradicted);
  t.strictSame(one.gaps(behind, 0), []);
  t.ok(one.isContradicted);
  t.strictSame(one.gaps(behind, DRIFT_MS - 1), []);
  t.equal(shortly(one.plan(behind, 2, DRIFT_MS - 1)), 'waits');
  t.strictSame(one.gaps(behind, DRIFT_MS), [4n, 5n, 7n, 8n]);
  t.strictSame(shortly(one.plan(behind, 5, DRIFT_MS)), [4n, 5n, 7n, 8n, 10n], 'payments may fill it as well');
  t.end();
});

t.test('an agreeing count ends the doubt about a gap, and the next doubt counts from its own start', (t) => {
  const behind = figures(4n, [6n], 4n);
  const agreements: Record<string, (one: SequencePlanner) => unknown> = {
    'the chain has gone on, as payments see it': (one) => one.plan(figures(7n, [6n], 4n), 1, 50),
    'the chain has gone on, as gaps are looked for': (one) => one.gaps(figures(7n, [6n], 4n), 50),
    'the gap is filled': (one) => one.gaps(figures(4n, [4n, 5n, 6n], 4n), 50),
    'more was signed': (one) => one.gaps(figures(4n, [6n, 7n], 4n), 50),
  };
  for (const [what, agree] of Object.entries(agreements)) {
    const one = planner();
    one.gaps(behind, 0);
    agree(one);
    t.strictSame(one.gaps(behind, DRIFT_MS), [], what);
    t.strictSame(one.gaps(behind, 2 * DRIFT_MS), [4n, 5n], what);
  }
  t.end();
});

t.test('a gap has its bound', (t) => {
  const widest = BigInt(WIDEST_GAP);
  const gapsIn = (held: readonly bigint[]) => {
    const one = planner();
    one.gaps(figures(0n, held), 0);
    return one.gaps(figures(0n, held), DRIFT_MS);
  };
  t.equal(gapsIn([widest]).length, WIDEST_GAP);
  t.strictSame(gapsIn([widest + 1n]), [], 'a wider one is not filled at all');
  t.strictSame(gapsIn([2n, widest + 4n]), [0n, 1n], 'but what is below it is');
  t.equal(gapsIn([40n, 80n]).length, 40, 'nor several that are wider together');
  t.end();
});

t.test('what stands above a gap that is too wide is beyond, when the chain has told so for long enough', (t) => {
  const widest = BigInt(WIDEST_GAP);
  const beyondIn = (held: readonly bigint[], { settled = null as bigint | null, elapsed = DRIFT_MS } = {}) => {
    const one = planner();
    one.gaps(figures(0n, held, settled), 0);
    return one.beyond(figures(0n, held, settled), elapsed);
  };
  const far = widest + 5n;
  t.strictSame(beyondIn([far + 1n, 3n, far]), [far, far + 1n]);
  t.strictSame(beyondIn([3n, far], { elapsed: DRIFT_MS - 1 }), []);
  t.strictSame(beyondIn([3n, far], { settled: 1n }), [], 'a chain that forgot what is settled is not believed');
  t.strictSame(beyondIn([widest]), []);
  t.strictSame(beyondIn([40n, 80n]), [], 'those are filled one after the other');
  t.strictSame(beyondIn([0n, 1n]), []);
  t.end();
});

t.test('payments fill a gap that is too wide for anything else', (t) => {
  const wide = figures(0n, [BigInt(WIDEST_GAP) + 1n]);
  const one = planner();
  for (const elapsed of [0, 50]) {
    t.equal(shortly(one.plan(wide, 1, elapsed)), 'waits');
    t.strictSame(one.gaps(wide, elapsed), []);
  }
  t.strictSame(shortly(one.plan(wide, 1, DRIFT_MS)), [0n]);
  t.end();
});

t.test('where sequences may begin anew, the chain is believed below what is settled as well', (t) => {
  const one = planner();
  const reset = { ...figures(3n, [], 8n), beginsAnew: true };
  t.equal(shortly(one.plan(reset, 1, 0)), 'waits');
  t.equal(shortly(one.plan(reset, 1, DRIFT_MS - 1)), 'waits', 'a node that is only behind has its time');
  t.strictSame(shortly(one.plan(reset, 2, DRIFT_MS)), [3n, 4n]);
  t.strictSame(one.gaps(reset, DRIFT_MS), [], 'nothing is filled there');
  const goingOn = { ...reset, held: new Set([3n, 4n]) };
  t.strictSame(shortly(one.plan(goingOn, 2, DRIFT_MS + 1)), [5n, 6n], 'and those behind have no time to wait');
  t.end();
});

async function scene(t: Test) {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  return { world, step, sender: await step.senders.of('r1') };
}

/** The sender with a client that returns this count and records its calls. */
function telling(sender: Sender, count: bigint | undefined, asked: unknown[] = []): Sender {
  const next = async (...question: unknown[]) => (asked.push(question), count);
  return { ...sender, client: Object.assign(Object.create(sender.client), { sequences: count && { next } }) };
}

t.test('what chain and store say of an account', async (t) => {
  const { world, step, sender } = await scene(t);
  t.strictSame(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set(), settled: null });

  await signPending(step, [await world.accept('a'), await world.accept('b')]);
  step.open.settled = async () => 7n;
  t.strictSame(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set([0n, 1n]), settled: 7n });
});

t.test('where sequences may begin anew, that is said', async (t) => {
  const { step, sender } = await scene(t);
  const { sequence } = createStellarChain();
  const figures = await sequenceFigures({ ...step, chain: { ...step.chain, ...(sequence && { sequence }) } }, [sender]);
  t.equal(figures.beginsAnew, true);
});

t.test('of several endpoints the one that is furthest counts', async (t) => {
  const { step, sender } = await scene(t);
  const [lagging, leading] = [telling(sender, 1n), telling(sender, 3n)];
  t.equal((await sequenceFigures(step, [lagging])).chain, 1n);
  t.equal((await sequenceFigures(step, [leading, lagging])).chain, 3n);
  t.equal((await sequenceFigures(step, [telling(sender, undefined), lagging])).chain, 1n, 'one that does not count');
});

t.test('a chain is asked once, on the chain of the lane, with how far the account is known to be', async (t) => {
  const { world, step, sender } = await scene(t);
  const asked: unknown[] = [];
  const asking = telling(sender, 1n, asked);
  await sequenceFigures(step, [asking, { ...asking }]);
  t.strictSame(asked, [[ADDRESS, '31337', null]]);

  await signPending(step, [await world.accept('a'), await world.accept('b')]);
  await sequenceFigures(step, [asking]);
  step.open.settled = async () => 7n;
  await sequenceFigures(step, [asking]);
  t.strictSame(asked.slice(1), [
    [ADDRESS, '31337', 2n],
    [ADDRESS, '31337', 7n],
  ]);
});
