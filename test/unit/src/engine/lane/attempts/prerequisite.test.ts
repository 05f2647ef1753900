import t, { type Test } from 'tap';
import type { TransactionStatus } from '../../../../../../src/domain/transaction/transaction-state.ts';
import { price } from '../../../../../../src/engine/lane/attempts/prepare.ts';
import { awaitPrerequisite } from '../../../../../../src/engine/lane/attempts/prerequisite.ts';
import { EngineWorld, present, stepAt } from '../../../../../support/engine-world.ts';

const REASON = 'A trustline is needed first';
const NEEDED = {
  request: { effect: 'trust' },
  validUntil: 9_000,
  anchorKind: 'sequence',
  onDeath: 'renew',
  contentKey: null,
} as const;

/** A transaction that needs a prerequisite first, and a function that prices it again. */
async function scene(t: Test) {
  const world = await EngineWorld.open(t);
  const step = stepAt(await world.step({ lookMs: 50 }), { now: () => 1_000 });
  const transaction = await world.accept('pay');
  world.client.onPrepare = ({ id }) =>
    id === transaction.id ? { kind: 'first', first: { ...NEEDED }, reason: REASON } : undefined;
  return { world, step, transaction, priceIt: async () => price(step, [await world.get(transaction)]) };
}

t.test('a prerequisite becomes one transaction of its own, and the other waits for it', async (t) => {
  const { world, transaction, priceIt } = await scene(t);
  t.strictSame(await priceIt(), []);
  await priceIt();
  const [first, ...others] = await world.store.read.children(transaction.id);
  t.strictSame(others, []);
  t.match(first, {
    ...NEEDED,
    parentId: transaction.id,
    relayerId: transaction.relayerId,
    lane: transaction.lane,
    status: 'pending',
    statusReason: REASON,
    createdAt: 1_000,
    nextActionAt: 1_000,
    fields: {},
  });
  t.match(await world.get(transaction), {
    status: 'pending',
    statusReason: new RegExp(`^${REASON} \\(checked again at `),
    nextActionAt: 1_050,
  });
  t.match(await world.store.read.decisions(transaction.id, 9), [{ kind: 'parked', text: REASON }]);
});

for (const [status, ends] of [
  ['pending', false],
  ['confirmed', false],
  ['failed', true],
  ['canceled', true],
  ['expired', true],
] as const satisfies [TransactionStatus, boolean][]) {
  t.test(`the other ${ends ? 'fails with' : 'waits for'} one that is ${status}`, async (t) => {
    const { world, step, transaction, priceIt } = await scene(t);
    await priceIt();
    const child = present((await world.store.read.children(transaction.id))[0]);
    if (status !== 'pending') {
      if (status === 'confirmed') await world.ledger().apply([{ transaction: child, set: { status: 'sent' } }]);
      await world.ledger().apply([{ transaction: await world.get(child), set: { status } }]);
    }
    const change = await awaitPrerequisite(step, await world.get(transaction), {
      first: { ...NEEDED },
      reason: REASON,
    });
    t.equal(change.first, undefined, 'it is not tried again');
    if (!ends) {
      t.equal(change.set.status, undefined);
      return;
    }
    const told = `${REASON}: transaction ${child.id} ended as ${status}`;
    t.match(change.set, { status: 'failed', statusReason: told, nextActionAt: null });
    t.match(change.decision, { kind: 'refused', text: told });
  });
}
