import t, { type Test } from 'tap';
import { takeUp } from '../../../../../../src/engine/lane/attempts/sign-pending.ts';
import { signDue } from '../../../../../../src/engine/lane/due-attempts.ts';
import { EngineWorld, pendingTransaction, present } from '../../../../../support/engine-world.ts';

/** Transactions of the fake chain cost 10: their value of 3, and a fee of at most 7. */
const COST = { effect: 'pay', cost: '3' };

async function stage(t: Test, feeLimit: bigint, count: number) {
  const world = await EngineWorld.open(t);
  world.client.onPrepare = () => ({ kind: 'ready', fields: { price: '1' }, cost: 10n });
  const transactions = Array.from({ length: count }, () => pendingTransaction('pay', { request: COST }));
  for (const transaction of transactions) {
    await world.store.write(async (writer) => {
      const { id: transactionId } = transaction;
      const budget = { pluginId: 'p', relayerId: 'r1', value: 3n, fee: null, valueLimit: null, feeLimit };
      await writer.reserveSpending({ transactionId, ...budget });
      await writer.insertTransaction(transaction);
    });
  }
  return { world, transactions, spent: () => world.store.read.spentLastHour('p', 'r1') };
}

t.test('only those are signed whose fee the budget bears; the others wait without a sequence', async (t) => {
  const { world, transactions, spent } = await stage(t, 20n, 4);
  const free = await world.accept('free');
  const step = await world.step();
  await takeUp(step, [...transactions, free]);
  const found = await Promise.all([...transactions, free].map((one) => world.get(one)));
  t.strictSame(
    found.map(({ status, sequence }) => [status, sequence]),
    [
      ['sent', 0n],
      ['sent', 1n],
      ['pending', null],
      ['pending', null],
      ['sent', 2n],
    ],
  );
  const parked = present(found[2]);
  t.match(
    parked.statusReason,
    /^Plugin p has 6 left of fee_per_hour 20, and the fee can be 7 more \(checked again at /,
  );
  t.ok((parked.nextActionAt ?? 0) > Date.now() - 1000);
  t.strictSame(await spent(), { value: 12n, fee: 14n });
});

t.test('what ends gives back what it did not take, and those that waited go on', async (t) => {
  const { world, transactions, spent } = await stage(t, 11n, 5);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  for (const transaction of transactions) await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(await spent(), { value: 15n, fee: 5n });
});

t.test('a dearer version waits for the budget; the bytes that there are stay on offer', async (t) => {
  const { world, transactions, spent } = await stage(t, 7n, 1);
  const transaction = present(transactions[0]);
  await takeUp(await world.step(), transactions);
  const step = await world.step();
  step.memory.offers.wantsAnother(transaction.id, 'underpriced');
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 11n });
  t.equal(await signDue(step), 1);
  t.match(await world.get(transaction), { status: 'sent', statusReason: /^Plugin p has 0 left of fee_per_hour 7/ });
  t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  t.strictSame(await spent(), { value: 3n, fee: 7n });
});

t.test('a noop is paid for even beyond the budget, and counts against it', async (t) => {
  const { world, transactions, spent } = await stage(t, 7n, 1);
  const transaction = present(transactions[0]);
  await takeUp(await world.step(), transactions);
  const sent = await world.get(transaction);
  await (await world.step()).ledger.apply([{ transaction: sent, set: { noopEnd: 'canceled' } }]);
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 50n });
  t.equal(await signDue(await world.step()), 1);
  t.strictSame(await spent(), { value: 3n, fee: 50n });
});
