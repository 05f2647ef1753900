import t from 'tap';
import type { TransactionObservation } from '../../../../../src/chains/chain-client.ts';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import { lookFor } from '../../../../../src/engine/lane/carry-out.ts';
import { withdrawn } from '../../../../../src/engine/lane/decide.ts';
import { carryOutIntents } from '../../../../../src/engine/lane/intents.ts';
import { applyToOpen, type LaneStep, unminedTransactions } from '../../../../../src/engine/lane/lane-step.ts';
import { committedCost } from '../../../../../src/engine/lane/sign-attempts.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { EngineTiming } from '../../../../../src/engine/timing.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, pendingTransaction, present, signDueAttempts, stepAt } from '../../../../support/engine-world.ts';

/** One transaction that a node has accepted, and the step that offered it. */
async function submitted(
  world: EngineWorld,
  { timing = {}, ...more }: Partial<Transaction> & { timing?: Partial<EngineTiming> } = {},
): Promise<{ step: LaneStep; transaction: Transaction; hash: string }> {
  const pending = await world.accept('pay', more);
  const step = await world.step(timing);
  await signPending(step, [pending]);
  await broadcastDueTransactions(step);
  const transaction = await world.get(pending);
  return { step, transaction, hash: transaction.hash ?? '' };
}

function sees(world: EngineWorld, observation: TransactionObservation): void {
  world.client.observe = async (entries) => entries.map(() => observation);
}

/** Checks every open transaction, as if all were due. */
async function lookAtAll(step: LaneStep): Promise<void> {
  const due = [...step.open.entries.values()].map(({ transaction, attempts }) => ({
    transaction: { ...transaction, nextActionAt: 0 },
    attempts,
  }));
  await lookFor(step, due);
}

const included = (
  hash: string,
  more: Partial<Extract<TransactionObservation, { kind: 'included' }>> = {},
): TransactionObservation => ({
  kind: 'included',
  hash,
  succeeded: true,
  final: false,
  reason: null,
  fields: { block: 7 },
  ...more,
});

t.test(
  'a payment in a block is mined and at depth confirmed, and keeps the chain’s fields beside its own',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transaction, hash } = await submitted(world);
    sees(world, included(hash));
    await lookAtAll(step);
    t.match(await world.get(transaction), { status: 'mined', confirmedAt: null, fields: { price: '1', block: 7 } });

    sees(world, included(hash, { final: true }));
    await lookAtAll(step);
    const ended = await world.get(transaction);
    t.match(ended, { status: 'confirmed', statusReason: null, nextActionAt: null, hash });
    t.ok(ended.confirmedAt !== null);
    t.equal(step.open.entries.size, 0);
  },
);

t.test('a failure on chain is only final at depth', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction, hash } = await submitted(world);
  sees(world, included(hash, { succeeded: false, reason: 'reverted' }));
  await lookAtAll(step);
  t.match(await world.get(transaction), {
    status: 'mined',
    statusReason: 'Failed in its block, not final yet: reverted',
  });

  sees(world, included(hash, { succeeded: false, reason: 'reverted', final: true }));
  await lookAtAll(step);
  t.match(await world.get(transaction), { status: 'failed', statusReason: 'reverted', confirmedAt: null });
});

t.test('a block that a reorganisation took sends the transaction back, to be offered at once', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction, hash } = await submitted(world);
  sees(world, included(hash));
  await lookAtAll(step);
  sees(world, { kind: 'open' });
  await lookAtAll(step);
  const back = await world.get(transaction);
  t.match(back, { status: 'submitted', hash });
  t.ok((back.nextActionAt ?? Number.POSITIVE_INFINITY) <= Date.now());
  const received = world.chain.received.length;
  await broadcastDueTransactions(step);
  t.equal(world.chain.received.length, received + 1);
});

t.test('any version that is in a block ends the search, and its hash is shown', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction, hash } = await submitted(world);
  const [first] = await world.store.read.attempts(transaction.id);
  const second = { ...present(first), ordinal: 2, raw: 'bumped', hash: 'bumped', acceptedAt: null };
  await world.store.write((writer) => writer.insertAttempt(second));
  await world.store.write((writer) => writer.updateTransaction(transaction.id, 'submitted', { hash: 'bumped' }));
  const entry = { transaction: await world.get(transaction), attempts: [present(first), second] };
  step.open.set(transaction.id, entry);

  sees(world, included(hash, { final: true }));
  await lookAtAll(step);
  t.match(await world.get(transaction), { status: 'confirmed', hash });
});

t.test('bytes that nobody was known to have count as accepted once they are in a block', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await world.accept('pay');
  const step = await world.step();
  await signPending(step, [pending]);
  const { hash } = await world.get(pending);
  sees(world, included(hash ?? ''));
  await lookAtAll(step);
  const mined = await world.get(pending);
  t.equal(mined.status, 'mined');
  t.ok(mined.sentAt !== null);
  t.ok((await world.store.read.attempts(pending.id))[0]?.acceptedAt);
});

/** The end of a transaction under sequence 0 that can no longer execute. */
const DEATHS = [
  { onDeath: 'end', anchor: 'used', becomes: 'failed', sequence: 0n, settled: 1n },
  { onDeath: 'end', anchor: 'free', becomes: 'expired', sequence: null, settled: null },
  { onDeath: 'never', anchor: 'used', becomes: 'failed', sequence: 0n, settled: 1n },
  { onDeath: 'renew', anchor: 'used', becomes: 'pending', sequence: null, settled: null },
  { onDeath: 'renew', anchor: 'free', becomes: 'pending', sequence: null, settled: null },
  { onDeath: 'renew', anchor: 'used', noopEnd: 'canceled', becomes: 'canceled', sequence: 0n, settled: 1n },
  { onDeath: 'renew', anchor: 'free', noopEnd: 'canceled', becomes: 'canceled', sequence: null, settled: null },
  { onDeath: 'end', anchor: 'free', noopEnd: 'expired', becomes: 'expired', sequence: null, settled: null },
  { onDeath: 'end', anchor: 'used', noopEnd: 'failed', becomes: 'failed', sequence: 0n, settled: 1n },
] as const;

for (const { onDeath, anchor, becomes, sequence, settled, ...more } of DEATHS) {
  const noopEnd = 'noopEnd' in more ? more.noopEnd : null;
  const wanted = noopEnd === null ? 'is wanted' : `is to end as ${noopEnd}`;
  t.test(`one that ${wanted}, dies with its anchor ${anchor} and says ${onDeath}, is ${becomes}`, async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transaction } = await submitted(world, { onDeath });
    if (noopEnd !== null)
      await applyToOpen(step, [withdrawn(transaction, noopEnd, 'canceled', 'not wanted', step.clock.now())]);
    const reason = 'Nonce 0 consumed externally';
    sees(world, { kind: 'dead', anchor, reason });
    await lookAtAll(step);

    const now = await world.get(transaction);
    t.match(now, { status: becomes, sequence, statusReason: noopEnd === null ? reason : 'not wanted' });
    t.equal(now.nextActionAt === null, becomes !== 'pending');
    t.equal(step.open.entries.size, 0);
    t.equal(await world.store.read.settledSequence(step.key), settled, 'only what is used for good is settled');
    t.equal(await step.open.settled(), settled);
    t.ok((await world.store.read.attempts(now.id)).every(({ deadAt }) => deadAt !== null));
    t.match((await world.store.read.decisions(now.id, 9)).at(-1), { kind: 'dead', text: reason });
  });
}

t.test('what is signed anew takes another anchor, beside the attempts that died', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world, { onDeath: 'renew' });
  sees(world, { kind: 'dead', anchor: 'used', reason: 'Nonce 0 consumed externally' });
  await lookAtAll(step);
  const pending = await world.get(transaction);
  t.match(pending, { hash: null, fields: {} });
  // The chain's count is ahead of what is settled here. The lane believes that only after hearing it twice.
  for (let round = 0; round < 2; round += 1) await signPending(step, [pending]);

  const attempts = await world.store.read.attempts(transaction.id);
  t.match(attempts, [
    { ordinal: 1, anchor: { sequence: 0n }, deadAt: Number },
    { ordinal: 2, anchor: { sequence: 1n }, deadAt: null, purpose: 'send' },
  ]);
  t.strictSame(step.open.entries.get(transaction.id)?.attempts, attempts);
  sees(world, included(attempts[1]?.hash ?? '', { final: true }));
  await lookAtAll(step);
  t.match(await world.get(transaction), { status: 'confirmed', sequence: 1n, hash: attempts[1]?.hash });
});

t.test('one whose block a reorganisation took, and which has died meanwhile, is signed anew', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction, hash } = await submitted(world, { onDeath: 'renew' });
  sees(world, included(hash));
  await lookAtAll(step);
  sees(world, { kind: 'dead', anchor: 'free', reason: 'Its time passed' });
  for (let round = 0; round < 2; round += 1) await lookAtAll(step);
  t.match(await world.get(transaction), { status: 'pending', statusReason: 'Its time passed', sequence: null });
});

t.test('an attempt that died is no longer looked for, and with the last one its transaction dies', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world, { onDeath: 'renew' });
  world.client.patience = 0;
  await signDueAttempts(step);
  const deaths = async () => (await world.store.read.attempts(transaction.id)).map(({ deadAt }) => deadAt !== null);
  sees(world, { kind: 'open', dead: [1] });
  await lookAtAll(step);
  t.strictSame(await deaths(), [true, false]);
  t.match(await world.get(transaction), { status: 'submitted', sequence: 0n });
  const decided = (await world.store.read.decisions(transaction.id, 9)).map(({ kind }) => kind);
  t.strictSame(decided, ['bumped'], 'it is not dead itself');
  await lookAtAll(step);
  sees(world, { kind: 'open', dead: [1, 2] });
  await lookAtAll(step);
  t.strictSame(await deaths(), [true, true]);
  t.match(await world.get(transaction), { status: 'pending', sequence: null, statusReason: /time .* passed/ });
});

t.test('a node that names a hash which is not ours is not believed', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  sees(world, included('somebody else', { final: true }));
  await lookAtAll(step);
  t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('a chain that cannot be asked, or that answers too little, changes no state', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  world.client.observe = () => Promise.reject(new Error('down'));
  await lookAtAll(step);
  world.client.observe = async () => [];
  await lookAtAll(step);
  const after = await world.get(transaction);
  t.equal(after.status, 'submitted');
  t.ok((after.nextActionAt ?? 0) > 0);
});

t.test('a pause that a failed offer has set is kept', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  sees(world, { kind: 'open' });
  const later = Date.now() + 60_000;
  await lookFor(step, [{ transaction: { ...transaction, nextActionAt: later }, attempts: [] }]);
  t.equal((await world.get(transaction)).nextActionAt, transaction.nextActionAt, 'nothing is written');
});

t.test('one question serves all transactions of a client; one of an unknown relayer waits', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  let asked = 0;
  world.client.observe = async (entries) => {
    asked += 1;
    return entries.map(() => ({ kind: 'open' }));
  };
  const lost = pendingTransaction('lost', { relayerId: 'gone', status: 'submitted', nextActionAt: 0 });
  await lookFor(step, [
    { transaction: { ...transaction, nextActionAt: 0 }, attempts: [] },
    { transaction: { ...transaction, nextActionAt: 0 }, attempts: [] },
    { transaction: lost, attempts: [] },
  ]);
  t.equal(asked, 1);
});

t.test('one that a node took long ago stays due, so that it is offered again; one taken lately does not', async (t) => {
  const world = await EngineWorld.open(t);
  // Longer than the test can run.
  const { step, transaction } = await submitted(world, { timing: { reofferMs: 3_600_000 } });
  sees(world, { kind: 'open' });
  const now = Date.now();
  await lookAtAll(stepAt(step, { now: () => now }));
  t.ok(((await world.get(transaction)).nextActionAt ?? 0) > now);
  await lookAtAll(stepAt(step, { now: () => now, elapsed: () => step.clock.elapsed() + step.timing.reofferMs }));
  t.equal((await world.get(transaction)).nextActionAt, now);
});

t.test('each block that it was in is told, and which one a reorganisation took', async (t) => {
  const world = await EngineWorld.open(t);
  Object.assign(world.family, {
    placeOf: ({ status, fields }: Transaction) =>
      status === 'mined' || status === 'confirmed' ? `block ${fields['block']}` : undefined,
  });
  const { step, transaction, hash } = await submitted(world);
  for (const observation of [
    included(hash),
    included(hash),
    included(hash, { fields: { block: 8 } }),
    { kind: 'open' } as const,
    included(hash, { fields: { block: 9 } }),
    included(hash, { fields: { block: 9 }, final: true }),
  ]) {
    sees(world, observation);
    await lookAtAll(step);
  }
  const told = (await world.store.read.decisions(transaction.id, 10)).map(({ kind, text }) => `${kind}: ${text}`);
  t.strictSame(told, [
    `mined: Attempt 1, ${hash}, is in block 7`,
    `mined: Attempt 1, ${hash}, is in block 8`,
    `reorganised: ${hash} is no longer in block 8`,
    `mined: Attempt 1, ${hash}, is in block 9`,
  ]);
});

t.test(
  'one whose sequence is used, nobody can prove by what, is set aside after a while and told of once',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transaction, hash } = await submitted(world);
    const reason = 'Nonce 0 is used';
    sees(world, { kind: 'open', reason });
    const now = Date.now();
    const at = (elapsed: number): LaneStep => stepAt(step, { now: () => now, elapsed: () => elapsed });
    await lookAtAll(at(1_000));
    await lookAtAll(at(1_000 + step.timing.unprovedMs - 1));
    t.equal((await world.get(transaction)).statusReason, null, 'a node may only be behind');
    t.equal(unminedTransactions(at(1_000 + step.timing.unprovedMs - 1)).length, 1);
    const aside = at(1_000 + step.timing.unprovedMs);
    await lookAtAll(aside);
    await lookAtAll(aside);
    t.match(await world.get(transaction), {
      status: 'submitted',
      statusReason: reason,
      nextActionAt: now + step.timing.unresolvedLookMs,
    });
    t.equal(unminedTransactions(aside).length, 0, 'no offer and no version of it is made');
    t.match(await world.store.read.decisions(transaction.id, 9), [{ kind: 'parked', text: reason }]);
    t.match(step.memory.offers.parked(), [{ cause: 'sequence' }]);

    sees(world, { kind: 'open' });
    await lookAtAll(aside);
    t.equal(unminedTransactions(aside).length, 1, 'free again, it goes on');
    t.same(step.memory.offers.parked(), []);
    sees(world, { kind: 'open', reason });
    await lookAtAll(aside);
    t.equal(unminedTransactions(aside).length, 1, 'from now on it is counted anew');
    sees(world, included(hash, { final: true }));
    await lookAtAll(aside);
    t.match(await world.get(transaction), { status: 'confirmed', statusReason: null });
  },
);

t.test(
  'one that was seen in a block is taken back, and one that is to have no effect keeps the reason for that',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transaction, hash } = await submitted(world);
    sees(world, included(hash));
    await lookAtAll(step);
    sees(world, { kind: 'open', reason: 'Nonce 0 is used' });
    await lookAtAll(step);
    t.equal((await world.get(transaction)).status, 'submitted');

    await applyToOpen(step, [
      withdrawn(await world.get(transaction), 'canceled', 'canceled', 'no longer wanted', step.clock.now()),
    ]);
    for (const elapsed of [0, step.timing.unprovedMs]) await lookAtAll(stepAt(step, { elapsed: () => elapsed }));
    t.match(await world.get(transaction), { status: 'submitted', statusReason: 'no longer wanted' });
  },
);

t.test('nobody waits for one that is set aside, and it is not replaced', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = [await world.accept('lost'), await world.accept('next')];
  const step = await world.step({ furtherMs: 60_000 });
  await signPending(step, pending);
  world.chain.unacceptable.add('lost');
  await broadcastDueTransactions(step);
  world.client.patience = 0;
  t.equal(await signDueAttempts(step), 0, 'its turn comes first');
  step.memory.offers.unproved(pending[0]?.id ?? '', step.clock.elapsed());
  const aside = stepAt(step, { elapsed: () => step.clock.elapsed() + step.timing.unprovedMs });
  t.equal(await signDueAttempts(aside), 1);
  t.equal(committedCost(aside), 1n);

  const action = { kind: 'replace', request: { effect: 'else' }, validUntil: null } as const;
  const about = { transactionId: pending[0]?.id ?? '', lane: step.key, action };
  const position = await world.store.write((writer) => writer.insertIntent(about));
  t.equal(await carryOutIntents(aside, await world.store.read.intents(step.key, 9)), 1);
  t.match(await world.store.read.intentOutcome(position), { refusal: /^Cannot replace: / });
});
