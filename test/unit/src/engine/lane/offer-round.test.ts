import t, { type Test } from 'tap';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { offerRound } from '../../../../../src/engine/lane/broadcast.ts';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import type { OpenEntry } from '../../../../../src/engine/lane/ledger.ts';
import { EngineWorld, present } from '../../../../support/engine-world.ts';

/** A lane with this many signed transactions. `round` returns the sequences of the round made from the given ones. */
async function lane(t: Test, count: number) {
  const world = await EngineWorld.open(t);
  const pending = [];
  for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step();
  await signPending(step, pending);
  const at = (place: number): OpenEntry => present(step.open.bySequence[place]);
  const round = (...places: number[]) => {
    const { now, later, blocker } = offerRound(step, places.map(at));
    return { now: now.map(sequenceOf), later: later.map(sequenceOf), blocker: blocker && sequenceOf(blocker) };
  };
  const busy = (place: number) => step.memory.offers.isNews(at(place).transaction.id, 'busy');
  return { step, at, round, busy };
}

const sequenceOf = ({ transaction }: OpenEntry) => Number(transaction.sequence);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** Marks the entry as accepted by a node. */
function take(step: LaneStep, entry: OpenEntry): void {
  const attempts = entry.attempts.map((attempt) => ({ ...attempt, acceptedAt: 1 }));
  step.open.set(entry.transaction.id, { ...entry, attempts });
}

t.test('all is offered at once while nodes have room', async (t) => {
  const { round } = await lane(t, 20);
  t.strictSame(round(...range(0, 20)), { now: range(0, 20), later: [], blocker: undefined });
});

t.test('once nodes had no room, sixteen are offered at a time', async (t) => {
  const { round, busy } = await lane(t, 20);
  busy(0);
  t.strictSame(round(...range(0, 20)), { now: range(0, 16), later: range(16, 20), blocker: undefined });
});

t.test('nothing is offered above one that waits for room', async (t) => {
  const { round, busy } = await lane(t, 5);
  busy(1);
  t.strictSame(round(0, 2, 3, 4), { now: [0], later: [2, 3, 4], blocker: 1 });
  busy(3);
  t.strictSame(round(2, 4), { now: [], later: [2, 4], blocker: 1 }, 'the lowest of two');
});

t.test('what a node took, and what other words were said of, holds up nothing', async (t) => {
  const { step, at, round, busy } = await lane(t, 4);
  busy(0);
  take(step, at(0));
  step.memory.offers.isNews(at(1).transaction.id, 'unknown');
  t.strictSame(round(2, 3), { now: [2, 3], later: [], blocker: undefined });
});

t.test('what a node took goes to it again, whatever waits below', async (t) => {
  const { step, at, round, busy } = await lane(t, 3);
  busy(0);
  take(step, at(1));
  t.strictSame(round(1, 2), { now: [1], later: [2], blocker: 0 });
});

t.test('what is not in the order of the account does not wait for it', async (t) => {
  const { step, at, round, busy } = await lane(t, 3);
  busy(0);
  const { transaction, attempts } = at(1);
  step.open.set(transaction.id, { transaction: { ...transaction, anchorKind: 'text' }, attempts });
  t.strictSame(round(1, 2), { now: [1], later: [2], blocker: 0 });
});
