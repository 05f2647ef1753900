import t from 'tap';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { carryOut } from '../../../../../src/engine/lane/intents.ts';
import { hasExpired, lifetimeOf } from '../../../../../src/engine/lane/lane-step.ts';
import { EngineWorld, LANE, pendingTransaction, stepAt } from '../../../../support/engine-world.ts';

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
  await carryOut(step, await world.store.read.intents(LANE, 10));
  t.equal(step.memory.ages.size, 1);
});

t.test('what ended is named', (t) => {
  t.equal(lifetimeOf(pendingTransaction('pay', { validUntil: 1 })), 'valid_until passed');
  t.equal(lifetimeOf(pendingTransaction('pay')), 'Its lifetime passed');
  t.end();
});
