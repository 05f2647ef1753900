import t from 'tap';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import { lookFor } from '../../../../../src/engine/lane/carry-out.ts';
import { carryOutIntents } from '../../../../../src/engine/lane/intents.ts';
import {
  applyToOpen,
  CRASH_POINTS,
  hasExpired,
  unminedTransactions,
} from '../../../../../src/engine/lane/lane-step.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, LANE, pendingTransaction, stepAt } from '../../../../support/engine-world.ts';
import { attemptOf } from '../../../../support/store.ts';

const entry = (status: 'sent' | 'submitted' | 'mined', sequence: bigint) => ({
  transaction: pendingTransaction('pay', { status, sequence }),
  attempts: [],
});

t.test('what is not in a block comes lowest sequence first, also beyond the digits of a float', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const entries = [entry('sent', 2n ** 63n + 1n), entry('mined', 1n), entry('submitted', 2n ** 63n)];
  for (const one of entries) step.open.set(one.transaction.id, one);
  t.strictSame(
    unminedTransactions(step).map(({ transaction }) => transaction.sequence),
    [2n ** 63n, 2n ** 63n + 1n],
  );
  t.equal(step.open.bySequence[0]?.transaction.sequence, 1n);
});

t.test('what became final or pending again leaves the picture, what changed is current', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const [ended, again, changed] = [
    await world.accept('a', { status: 'submitted', sequence: 7n }),
    await world.accept('b', { status: 'submitted' }),
    await world.accept('c', { status: 'submitted' }),
  ];
  for (const transaction of [ended, again, changed]) step.open.set(transaction.id, { transaction, attempts: [] });
  for (const { id } of [ended, again]) step.memory.offers.failed(id);
  const known: unknown[] = [];
  step.open.ended = (sequence) => void known.push(sequence);

  await applyToOpen(step, [
    { transaction: ended, set: { status: 'failed', nextActionAt: null } },
    { transaction: again, set: { status: 'pending' } },
    { transaction: changed, set: { statusReason: 'waiting' } },
  ]);
  t.strictSame([...step.open.entries.keys()], [changed.id]);
  t.equal(step.open.entries.get(changed.id)?.transaction.statusReason, 'waiting');
  t.equal(step.memory.offers.size, 0);
  t.strictSame(known, [7n], 'what is pending again has used nothing');
});

t.test('what a node took and what died is current, and what counts is the first time', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const transaction = await world.accept('a', { status: 'sent' });
  const attempts = [attemptOf(transaction), attemptOf(transaction, { ordinal: 2 })];
  await world.store.write(async (writer) => {
    for (const attempt of attempts) await writer.insertAttempt(attempt);
  });
  step.open.set(transaction.id, { transaction, attempts });

  const apply = (at: number) =>
    applyToOpen(step, [{ transaction, set: {}, accepted: { ordinal: 1, at }, died: { ordinals: [2], at } }]);
  for (const at of [5, 6]) await apply(at);
  const known = step.open.entries.get(transaction.id)?.attempts;
  t.match(known, [
    { ordinal: 1, acceptedAt: 5, deadAt: null },
    { ordinal: 2, acceptedAt: null, deadAt: 5 },
  ]);
  t.strictSame(known, await world.store.read.attempts(transaction.id), 'as the store has it');
});

t.test('a life without trouble passes its steps in their order, and each step has one name', async (t) => {
  t.equal(new Set(CRASH_POINTS).size, CRASH_POINTS.length);
  const world = await EngineWorld.open(t);
  const step = await world.step();
  await signPending(step, [await world.accept('pay')]);
  await broadcastDueTransactions(step);
  world.chain.mine();
  await lookFor(step, [...step.open.entries.values()]);
  const expected = ['priced', 'reserved', 'signed', 'written', 'offered', 'noted', 'observed', 'settled'];
  t.strictSame(world.reached, expected);
  const places = expected.map((name) => (CRASH_POINTS as readonly string[]).indexOf(name));
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
  );
  t.notOk(places.includes(-1));
});

const HOUR = 3_600_000;

/** A world whose own clock, steady clock and chain clock the test sets. */
async function withClocks(t: { teardown(end: () => Promise<void>): void }) {
  const world = await EngineWorld.open(t);
  const clocks = { own: 0, steady: 0, chain: 0 };
  world.chain.time = () => clocks.chain;
  const step = stepAt(await world.step(), { now: () => clocks.own, elapsed: () => clocks.steady });
  const expires = (transaction: Transaction, at: Partial<typeof clocks>) => {
    Object.assign(clocks, at);
    return hasExpired(step, transaction);
  };
  return { world, step, expires };
}

t.test('a transaction expires at its own end, or else by the lifetime of its chain', async (t) => {
  const { world, expires } = await withClocks(t);
  const at = (validUntil: number | null, createdAt: number) =>
    expires(pendingTransaction('pay', { validUntil, createdAt }), { own: 1_000, chain: 1_000 });
  t.equal(await at(1_001, 0), false);
  t.equal(await at(1_000, 0), true);
  t.equal(await at(null, 1_000 - world.family.pace.lifetimeMs), true);
  t.equal(await at(null, 1_001 - world.family.pace.lifetimeMs), false);
  t.equal(await at(2_000, 0 - world.family.pace.lifetimeMs), false, 'a client may ask for longer');
});

t.test('our clock alone ends nothing: a block has to be made after the end', async (t) => {
  const { expires } = await withClocks(t);
  const payment = pendingTransaction('pay', { createdAt: 0, validUntil: HOUR });
  t.equal(await expires(payment, { own: 9 * HOUR, chain: 1_000 }), false, 'it is nine hours ahead');
  t.equal(await expires(payment, { own: 2_000, chain: 9 * HOUR }), false, 'nor does that of the chain');
  t.equal(await expires(payment, { own: HOUR, chain: HOUR - 1 }), false);
  t.equal(await expires(payment, { own: HOUR, chain: HOUR }), true);
});

t.test('where no block is made, it expires after it was watched for its whole lifetime', async (t) => {
  const { expires } = await withClocks(t);
  const payment = pendingTransaction('pay', { createdAt: 0, validUntil: HOUR });
  t.equal(await expires(payment, { own: 0, steady: 500 }), false);
  t.equal(await expires(payment, { own: HOUR, steady: HOUR + 499 }), false);
  t.equal(await expires(payment, { own: HOUR - 1, steady: HOUR + 500 }), false, 'our clock was set back');
  t.equal(await expires(payment, { own: HOUR, steady: HOUR + 500 }), true);
});

t.test('it expires in the same way where no node answers or its relayer is gone', async (t) => {
  const { world, expires } = await withClocks(t);
  const payment = pendingTransaction('pay', { createdAt: 0, validUntil: HOUR });
  const orphan = pendingTransaction('orphan', { createdAt: 0, validUntil: HOUR, relayerId: 'gone' });
  world.chain.fault = () => 'answer-lost';
  for (const one of [payment, orphan]) {
    t.equal(await expires(one, { own: 9 * HOUR, chain: 9 * HOUR, steady: 0 }), false);
    t.equal(await expires(one, { own: 9 * HOUR, steady: HOUR }), true);
  }
  const endless = pendingTransaction('endless', { createdAt: 0, relayerId: 'gone' });
  t.equal(await expires(endless, { own: 90 * HOUR, steady: 90 * HOUR }), false, 'nobody knows its lifetime');
});

t.test('the age of a transaction is forgotten when it ends, in whichever way', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const late = await world.accept('late', { validUntil: Date.now() - 1 });
  const [refused, canceled, parked] = [
    await world.accept('refused'),
    await world.accept('canceled'),
    await world.accept('parked'),
  ];
  world.client.onPrepare = ({ id }) =>
    id === refused.id
      ? { kind: 'refused', reason: 'no' }
      : { kind: 'parked', reason: 'above the cap', retryInMs: 60_000 };
  await signPending(step, [late, refused, canceled, parked]);
  t.equal(step.memory.ages.size, 2);
  await world.store.write((writer) =>
    writer.insertIntent({ transactionId: canceled.id, lane: LANE, action: { kind: 'cancel' } }),
  );
  await carryOutIntents(step, await world.store.read.intents(LANE, 10));
  t.equal(step.memory.ages.size, 1);
});
