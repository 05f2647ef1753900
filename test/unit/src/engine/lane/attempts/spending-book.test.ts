import t, { type Test } from 'tap';
import { SpendingBook } from '../../../../../../src/engine/lane/attempts/spending-book.ts';
import { EngineWorld } from '../../../../../support/engine-world.ts';

async function stage(t: Test) {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  await world.store.write((writer) =>
    writer.reserveSpending({
      transactionId: transaction.id,
      pluginId: 'p',
      relayerId: 'r1',
      value: 10n,
      fee: null,
      valueLimit: 10n,
      feeLimit: 5n,
    }),
  );
  return { world, transaction, spent: () => world.store.read.spentLastHour('p', 'r1') };
}

t.test('in the commit in which a transaction ends, what it reserved becomes what it took', async (t) => {
  const { world, transaction, spent } = await stage(t);
  const { ledger } = await world.step();
  await ledger.apply([{ transaction, set: { status: 'sent', sequence: 0n } }]);
  t.strictSame(await spent(), { value: 10n, fee: 0n });
  const sent = { ...transaction, status: 'sent' as const };
  await ledger.apply([{ transaction: sent, set: { status: 'failed' } }]);
  t.strictSame(await spent(), { value: 0n, fee: 0n });
});

t.test('a change that came too late settles nothing', async (t) => {
  const { world, transaction, spent } = await stage(t);
  const { ledger } = await world.step();
  await ledger.apply([{ transaction: { ...transaction, status: 'sent' }, set: { status: 'failed' } }]);
  t.strictSame(await spent(), { value: 10n, fee: 0n });
});

t.test('a fee that the budget lacks is refused with its figures, in the order asked', async (t) => {
  const { world, transaction, spent } = await stage(t);
  const { ledger } = await world.step();
  const ask = { transactionId: transaction.id, value: 10n, mayExceed: false };
  t.strictSame(
    await ledger.raise([
      { ...ask, fee: 3n },
      { ...ask, fee: 6n },
      { ...ask, fee: 4n },
    ]),
    [{ transactionId: transaction.id, reason: 'Plugin p has 2 left of fee_per_hour 5, and the fee can be 3 more' }],
  );
  t.strictSame(await spent(), { value: 10n, fee: 4n });
});

t.test('where the family is not known, what was reserved stays reserved', async (t) => {
  const { world, transaction, spent } = await stage(t);
  const book = new SpendingBook(new Map());
  await world.store.write((writer) => book.moved(writer, [{ ...transaction, status: 'failed' }]));
  t.strictSame(await spent(), { value: 10n, fee: 0n });
});
