import t from 'tap';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import { carryOutIntents } from '../../../../../src/engine/lane/intents.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { IntentAction } from '../../../../../src/features/transactions/records/intent.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, LANE, present, stepAt } from '../../../../support/engine-world.ts';
import { attemptOf } from '../../../../support/store.ts';

const CANCEL: IntentAction = { kind: 'cancel' };
const REPLACE: IntentAction = { kind: 'replace', request: { effect: 'instead' }, validUntil: 4_000_000_000_000 };

async function ask(world: EngineWorld, { id }: Transaction, action: IntentAction): Promise<number> {
  return world.store.write((writer) => writer.insertIntent({ transactionId: id, lane: LANE, action }));
}

/** Carries out the waiting intents in one step that knows everything signed so far. */
async function settle(world: EngineWorld, timing = {}): Promise<number> {
  return carryOutIntents(await world.step(timing), await world.store.read.intents(LANE, 10));
}

async function submitted(world: EngineWorld): Promise<Transaction> {
  const pending = await world.accept('pay');
  const step = await world.step();
  await signPending(step, [pending]);
  await broadcastDueTransactions(step);
  return world.get(pending);
}

t.test('a pending transaction is canceled at once: nothing of it was signed', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const position = await ask(world, transaction, CANCEL);
  t.equal(await settle(world), 1);
  t.match(await world.get(transaction), {
    status: 'canceled',
    noopEnd: 'canceled',
    statusReason: 'Transaction canceled by user',
    nextActionAt: null,
  });
  t.strictSame(await world.store.read.intentOutcome(position), { refusal: null });
});

t.test('one whose attempts have died says so when it is canceled', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay', { onDeath: 'renew' });
  await world.store.write((writer) => writer.insertAttempt({ ...attemptOf(transaction), deadAt: 1 }));
  await ask(world, transaction, CANCEL);
  await settle(world);
  t.equal((await world.get(transaction)).status, 'canceled');
  const decisions = await world.store.read.decisions(transaction.id, 9);
  t.match(decisions.at(-1), { kind: 'canceled', text: 'No attempt of it can execute any more' });
});

t.test('replacing a pending transaction changes its request', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  await ask(world, transaction, REPLACE);
  t.equal(await settle(world), 1);
  t.match(await world.get(transaction), { status: 'pending', request: { effect: 'instead' }, validUntil: 4e12 });
});

t.test('canceling a payment on offer marks it for a noop and leaves its status as it is', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  await ask(world, transaction, CANCEL);
  t.equal(await settle(world), 1);
  t.match(await world.get(transaction), {
    status: 'submitted',
    noopEnd: 'canceled',
    statusReason: 'Transaction canceled by user, replacing with NOOP',
  });
  t.match(await world.store.read.decisions(transaction.id, 10), [{ kind: 'canceling' }]);
});

for (const [what, replacement] of [
  ['nothing can take its place', { can: () => false }],
  ['the family knows no replacement', undefined],
] as const) {
  t.test(`where ${what}, what is canceled just ends when it can, and replacing it is refused`, async (t) => {
    const world = await EngineWorld.open(t);
    const transaction = await submitted(world);
    const known = world.client.replacement;
    Object.assign(world.client, { replacement: replacement && { ...known, ...replacement } });
    const replace = await ask(world, transaction, REPLACE);
    const cancel = await ask(world, transaction, CANCEL);
    t.equal(await settle(world), 2);
    t.strictSame(await world.store.read.intentOutcome(replace), {
      refusal: 'Cannot replace: it is signed, and nothing can take its place',
    });
    t.strictSame(await world.store.read.intentOutcome(cancel), { refusal: null });
    t.match(await world.get(transaction), {
      status: 'submitted',
      noopEnd: 'canceled',
      statusReason: /^Transaction canceled by user: it is not offered any more/,
      request: { effect: 'pay' },
    });
    t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  });
}

t.test('one that is on offer is replaced under its sequence', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  await ask(world, transaction, REPLACE);
  t.equal(await settle(world), 1);
  const attempts = await world.store.read.attempts(transaction.id);
  t.match(attempts, [
    { purpose: 'send', anchor: { sequence: 0n }, request: { effect: 'pay' } },
    { purpose: 'replace', anchor: { sequence: 0n }, request: { effect: 'instead' } },
  ]);
  t.match(await world.get(transaction), {
    status: 'submitted',
    request: { effect: 'instead' },
    hash: attempts[1]?.hash,
    validUntil: 4e12,
  });
});

for (const status of ['mined', 'confirmed', 'failed'] as const) {
  t.test(`what is ${status} is neither canceled nor replaced`, async (t) => {
    const world = await EngineWorld.open(t);
    const transaction = await submitted(world);
    await world.store.write((writer) => writer.updateTransaction(transaction.id, 'submitted', { status }));
    const [cancel, replace] = [await ask(world, transaction, CANCEL), await ask(world, transaction, REPLACE)];
    t.equal(await settle(world), 2);
    const named = status.charAt(0).toUpperCase() + status.slice(1);
    const refusal = (kind: string) =>
      `Invalid transaction state for ${kind}_transaction. Current: ${named}, Expected one of: [Pending, Sent, Submitted]`;
    t.strictSame(await world.store.read.intentOutcome(cancel), { refusal: refusal('cancel') });
    t.strictSame(await world.store.read.intentOutcome(replace), { refusal: refusal('replace') });
    t.equal((await world.get(transaction)).noopEnd, null);
  });
}

t.test('what is being taken back is not replaced', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  await ask(world, transaction, CANCEL);
  const position = await ask(world, transaction, REPLACE);
  t.equal(await settle(world), 2);
  t.match(await world.store.read.intentOutcome(position), {
    refusal: 'Cannot replace: the transaction is being canceled',
  });
});

t.test('a replacement that the chain refuses is refused, and the transaction goes on as it was', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  const position = await ask(world, transaction, REPLACE);
  world.client.replacement.prepare = async () => ({ kind: 'refused', reason: 'too cheap' });
  t.equal(await settle(world), 1);
  t.strictSame(await world.store.read.intentOutcome(position), { refusal: 'too cheap' });
  t.strictSame(await world.get(transaction), transaction);
});

t.test('one that cannot be carried out now waits, for a while', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  const position = await ask(world, transaction, REPLACE);
  world.client.cap = 1n;
  t.equal(await settle(world), 0);
  t.equal(await world.store.read.intentOutcome(position), 'waiting');
  const step = await world.step({ furtherMs: 60_000 });
  const intents = await world.store.read.intents(LANE, 10);
  await carryOutIntents(step, intents);
  world.client.cap = null;
  t.equal(await carryOutIntents(step, intents), 0, 'not asked again at once');
  world.client.cap = 1n;
  t.equal(await settle(world, { intentMs: -1 }), 1);
  t.strictSame(await world.store.read.intentOutcome(position), { refusal: 'the price is above the cap' });
});

t.test('a clock that is set back makes no intent wait for longer than its while', async (t) => {
  const world = await EngineWorld.open(t);
  const position = await ask(world, await submitted(world), REPLACE);
  world.client.cap = 1n;
  const step = await world.step({ intentMs: 10_000 });
  const intents = await world.store.read.intents(LANE, 10);
  const after = (ms: number) =>
    stepAt(step, { now: () => Date.now() - 3_600_000, elapsed: () => performance.now() + ms });
  t.equal(await carryOutIntents(after(0), intents), 0);
  t.equal(await carryOutIntents(after(9_000), intents), 0, 'its while is not over');
  t.equal(await carryOutIntents(after(20_000), intents), 1);
  t.strictSame(await world.store.read.intentOutcome(position), { refusal: 'the price is above the cap' });
  t.equal(step.memory.ages.size, 0);
});

t.test('intents are carried out in the order of their asking', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  await ask(world, transaction, REPLACE);
  await ask(world, transaction, CANCEL);
  t.equal(await settle(world), 2);
  t.match(await world.get(transaction), { status: 'canceled', request: { effect: 'instead' } });
  t.strictSame(await world.store.read.intents(LANE, 10), []);
});

t.test('a batch of replacements at most, and whoever cancels does not wait for them', async (t) => {
  const world = await EngineWorld.open(t);
  const pending: Transaction[] = [];
  for (let index = 0; index < 5; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step({ batch: 2 });
  await signPending(step, pending);
  await broadcastDueTransactions(step);
  const replace = (index: number): IntentAction => ({
    kind: 'replace',
    request: { effect: `else ${index}` },
    validUntil: null,
  });
  const positions: number[] = [];
  for (const [index, one] of pending.entries())
    positions.push(await ask(world, one, index < 3 ? replace(index) : CANCEL));
  const apply = t.capture(step.ledger, 'apply', step.ledger.apply.bind(step.ledger));

  t.equal(await carryOutIntents(step, await world.store.read.intents(LANE, 10)), 4);
  t.equal(apply().length, 1, 'what needs no signature is one commit');
  const outcomes = await Promise.all(positions.map((position) => world.store.read.intentOutcome(position)));
  const done = { refusal: null };
  t.strictSame(outcomes, [done, done, 'waiting', done, done]);
  t.equal(await carryOutIntents(step, await world.store.read.intents(LANE, 10)), 1);
  t.match(await world.get(present(pending[2])), { request: { effect: 'else 2' } });
});

t.test('an intent of a transaction that is gone is refused', async (t) => {
  const world = await EngineWorld.open(t);
  const position = await ask(world, await world.accept('pay'), CANCEL);
  const known = await world.step();
  const step = { ...known, read: { ...known.read, transactionOfLane: async () => undefined } };
  t.equal(await carryOutIntents(step, await world.store.read.intents(LANE, 10)), 1);
  t.match(await world.store.read.intentOutcome(position), { refusal: /gone/ });
});

t.test('to cancel what has expired changes nothing of why it ends', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await submitted(world);
  await world.store.write((writer) =>
    writer.updateTransaction(transaction.id, 'submitted', { noopEnd: 'expired', statusReason: 'too late' }),
  );
  const position = await ask(world, transaction, CANCEL);
  t.equal(await settle(world), 1);
  t.strictSame(await world.store.read.intentOutcome(position), { refusal: null });
  t.match(await world.get(transaction), { noopEnd: 'expired', statusReason: 'too late' });
  t.strictSame(await world.store.read.decisions(transaction.id, 10), []);
});
