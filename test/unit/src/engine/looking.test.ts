import t from 'tap';
import type { Observation } from '../../../../src/chains/chain.ts';
import type { Transaction } from '../../../../src/domain/transaction.ts';
import { takeUp } from '../../../../src/engine/intake.ts';
import { carryOut } from '../../../../src/engine/intents.ts';
import { applyToOpen, type LaneStep, unmined } from '../../../../src/engine/lane-step.ts';
import { look } from '../../../../src/engine/looking.ts';
import { offer } from '../../../../src/engine/offering.ts';
import { committedCost } from '../../../../src/engine/pricing.ts';
import { asVoid, renew } from '../../../../src/engine/renewal.ts';
import type { EngineTiming } from '../../../../src/engine/timing.ts';
import { EngineWorld, pendingTransaction, present } from '../../../support/engine-world.ts';

/** One transaction that a node has, and the step that brought it there. */
async function submitted(
  world: EngineWorld,
  timing: Partial<EngineTiming> = {},
): Promise<{ step: LaneStep; transaction: Transaction; hash: string }> {
  const pending = await world.accept('pay');
  const step = await world.step(timing);
  await takeUp(step, [pending]);
  await offer(step);
  const transaction = await world.get(pending);
  return { step, transaction, hash: transaction.hash ?? '' };
}

function sees(world: EngineWorld, observation: Observation): void {
  world.client.observe = async (entries) => entries.map(() => observation);
}

/** Looks at everything open, as if all were due. */
async function lookAtAll(step: LaneStep): Promise<void> {
  const due = [...step.open.values()].map(({ transaction, attempts }) => ({
    transaction: { ...transaction, nextActionAt: 0 },
    attempts,
  }));
  await look(step, due);
}

const included = (hash: string, more: Partial<Extract<Observation, { kind: 'included' }>> = {}): Observation => ({
  kind: 'included',
  hash,
  succeeded: true,
  final: false,
  reason: null,
  fields: { block: 7 },
  ...more,
});

t.test('in a block is mined, at depth confirmed; what the chain shows is kept beside what was decided', async (t) => {
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
  t.equal(step.open.size, 0);
});

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
  sees(world, { kind: 'waiting' });
  await lookAtAll(step);
  const back = await world.get(transaction);
  t.match(back, { status: 'submitted', hash });
  t.ok((back.nextActionAt ?? Number.POSITIVE_INFINITY) <= Date.now());
  const received = world.chain.received.length;
  await offer(step);
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
  await takeUp(step, [pending]);
  const { hash } = await world.get(pending);
  sees(world, included(hash ?? ''));
  await lookAtAll(step);
  const mined = await world.get(pending);
  t.equal(mined.status, 'mined');
  t.ok(mined.sentAt !== null);
  t.ok((await world.store.read.attempts(pending.id))[0]?.acceptedAt);
});

t.test('a sequence that something else used up for good ends the transaction as failed', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  sees(world, { kind: 'displaced', reason: 'Nonce 0 consumed externally' });
  await lookAtAll(step);
  t.match(await world.get(transaction), { status: 'failed', statusReason: 'Nonce 0 consumed externally' });
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
  sees(world, { kind: 'waiting' });
  const later = Date.now() + 60_000;
  await look(step, [{ transaction: { ...transaction, nextActionAt: later }, attempts: [] }]);
  t.equal((await world.get(transaction)).nextActionAt, transaction.nextActionAt, 'nothing is written');
});

t.test('one question serves all transactions of a client; one of an unknown relayer waits', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transaction } = await submitted(world);
  let asked = 0;
  world.client.observe = async (entries) => {
    asked += 1;
    return entries.map(() => ({ kind: 'waiting' }));
  };
  const lost = pendingTransaction('lost', { relayerId: 'gone', status: 'submitted', nextActionAt: 0 });
  await look(step, [
    { transaction: { ...transaction, nextActionAt: 0 }, attempts: [] },
    { transaction: { ...transaction, nextActionAt: 0 }, attempts: [] },
    { transaction: lost, attempts: [] },
  ]);
  t.equal(asked, 1);
});

t.test('one that a node took long ago stays due, so that it is offered again; one taken lately does not', async (t) => {
  const world = await EngineWorld.open(t);
  // Longer than the test can take.
  const { step, transaction } = await submitted(world, { reofferMs: 3_600_000 });
  sees(world, { kind: 'waiting' });
  const now = Date.now();
  await lookAtAll({ ...step, now: () => now });
  t.ok(((await world.get(transaction)).nextActionAt ?? 0) > now);
  await lookAtAll({ ...step, now: () => now, elapsed: () => step.elapsed() + step.timing.reofferMs });
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
    { kind: 'waiting' } as const,
    included(hash, { fields: { block: 9 } }),
    included(hash, { fields: { block: 9 }, final: true }),
  ]) {
    sees(world, observation);
    await lookAtAll(step);
  }
  const told = (await world.store.read.decisions(transaction.id, 10)).map(({ kind, text }) => `${kind}: ${text}`);
  t.strictSame(told, [
    `mined: Version 1, ${hash}, is in block 7`,
    `mined: Version 1, ${hash}, is in block 8`,
    `reorganised: ${hash} is no longer in block 8`,
    `mined: Version 1, ${hash}, is in block 9`,
  ]);
});

t.test(
  'one whose sequence is used, nobody can prove by what, is set aside after a while and told of once',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transaction, hash } = await submitted(world);
    const reason = 'Nonce 0 is used';
    sees(world, { kind: 'waiting', reason });
    const now = Date.now();
    const at = (elapsed: number): LaneStep => ({ ...step, now: () => now, elapsed: () => elapsed });
    await lookAtAll(at(1_000));
    await lookAtAll(at(1_000 + step.timing.unprovedMs - 1));
    t.equal((await world.get(transaction)).statusReason, null, 'a node may only be behind');
    t.equal(unmined(at(1_000 + step.timing.unprovedMs - 1)).length, 1);
    const aside = at(1_000 + step.timing.unprovedMs);
    await lookAtAll(aside);
    await lookAtAll(aside);
    t.match(await world.get(transaction), {
      status: 'submitted',
      statusReason: reason,
      nextActionAt: now + step.timing.asideMs,
    });
    t.equal(unmined(aside).length, 0, 'no offer and no version of it is made');
    t.match(await world.store.read.decisions(transaction.id, 9), [{ kind: 'parked', text: reason }]);
    t.match(step.offers.parked(), [{ cause: 'sequence' }]);

    sees(world, { kind: 'waiting' });
    await lookAtAll(aside);
    t.equal(unmined(aside).length, 1, 'free again, it goes on');
    t.same(step.offers.parked(), []);
    sees(world, { kind: 'waiting', reason });
    await lookAtAll(aside);
    t.equal(unmined(aside).length, 1, 'from now on it is counted anew');
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
    sees(world, { kind: 'waiting', reason: 'Nonce 0 is used' });
    await lookAtAll(step);
    t.equal((await world.get(transaction)).status, 'submitted');

    await applyToOpen(step, [asVoid(step, await world.get(transaction), 'canceled', 'canceled', 'no longer wanted')]);
    for (const elapsed of [0, step.timing.unprovedMs]) await lookAtAll({ ...step, elapsed: () => elapsed });
    t.match(await world.get(transaction), { status: 'submitted', statusReason: 'no longer wanted' });
  },
);

t.test('nobody waits for one that is set aside, and it is not replaced', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = [await world.accept('lost'), await world.accept('next')];
  const step = await world.step({ renewMs: 60_000 });
  await takeUp(step, pending);
  world.chain.unacceptable.add('lost');
  await offer(step);
  world.client.patience = 0;
  t.equal(await renew(step), 0, 'its turn comes first');
  step.offers.unproved(pending[0]?.id ?? '', step.elapsed());
  const aside = { ...step, elapsed: () => step.elapsed() + step.timing.unprovedMs };
  t.equal(await renew(aside), 1);
  t.equal(await committedCost(aside), 1n);

  const wish = { kind: 'replace', request: { effect: 'else' }, validUntil: null } as const;
  const about = { transactionId: pending[0]?.id ?? '', lane: step.key, wish };
  const position = await world.store.write((writer) => writer.insertIntent(about));
  t.equal(await carryOut(aside, await world.store.read.intents(step.key, 9)), 1);
  t.match(await world.store.read.intentOutcome(position), { refusal: /^Cannot replace: / });
});
