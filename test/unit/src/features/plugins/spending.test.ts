import t, { type Test } from 'tap';
import { HOUR_MS, type SpendingPlugin } from '../../../../../src/features/plugins/records/spending.ts';
import { createSpendingGuard } from '../../../../../src/features/plugins/spending.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { FakeFamily } from '../../../../support/fake-chain-client.ts';
import { storeFor, transactionOf } from '../../../../support/store.ts';

const chain = new FakeFamily();

async function stage(t: Test, caveats: SpendingPlugin['caveats']) {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const guard = createSpendingGuard(store);
  const spender = { pluginId: 'p', caveats };
  const send = (transactionId: string, cost: bigint, isLimited = true) =>
    guard.within(
      isLimited ? spender : undefined,
      { chain, relayerId: 'r', transactionId, request: { effect: 'pay', cost: cost.toString() } },
      (reserve) =>
        store.write(async (writer) => {
          await reserve(writer);
          await writer.insertTransaction(transactionOf({ id: transactionId, relayerId: 'r' }));
        }),
    );
  const settle = (transactionId: string, value: bigint, fee = 0n) =>
    store.write((writer) => writer.settleSpending([{ transactionId, value, fee }]));
  const total = async () => (await store.read.transactions('r', { page: 1, perPage: 1 })).total;
  const wait = (ms: number) => {
    now += ms;
  };
  return { store, guard, send, settle, total, wait };
}

t.test('without limits nothing is reserved; without hourly ones no budget is kept', async (t) => {
  const { store, send, total } = await stage(t, { valuePerCall: 5n });
  await t.resolves(send('a', 100n, false));
  await t.resolves(send('b', 5n));
  t.strictSame(await store.read.budgeted(['a', 'b']), new Set());
  t.equal(await total(), 2);
  const refused = {
    code: 'GRANT_EXCEEDED',
    details: { plugin: 'p', relayer: 'r', rule: 'value_per_call', asked: '6' },
  };
  await t.rejects(send('c', 6n), refused);
  t.equal(await total(), 2);
});

t.test('what is beyond the budget is not accepted, and the refusal has its figures', async (t) => {
  const { send, settle, total, wait } = await stage(t, { valuePerHour: 10n });
  await send('a', 6n);
  const figures = { rule: 'value_per_hour', asked: '5', limit: '10', remaining: '4', unit: 'wei' };
  await t.rejects(send('b', 5n), {
    code: 'BUDGET_SPENT',
    details: { ...figures, free_from: 'an hour after what is under way has ended' },
    retryAfterSeconds: undefined,
  });
  await settle('a', 6n);
  wait(HOUR_MS - 60_000);
  await t.rejects(send('b', 5n), {
    code: 'BUDGET_SPENT',
    details: { free_from: new Date(1000 + HOUR_MS + 1).toISOString() },
    retryAfterSeconds: 61,
  });
  await t.rejects(send('b', 11n), { code: 'BUDGET_SPENT', details: { free_from: /it is more than the whole limit/ } });
  t.equal(await total(), 1);
  wait(60_001);
  await t.resolves(send('b', 10n));
});

t.test('nothing is refused while there is something to take in', async (t) => {
  const { store, send, settle } = await stage(t, { valuePerHour: 2000n, feePerHour: 50n });
  for (let index = 0; index < 700; index += 1) await send(`t${index}`, 2n);
  await store.write((writer) =>
    writer.settleSpending(
      Array.from({ length: 700 }, (_, index) => ({ transactionId: `t${index}`, value: 0n, fee: 0n })),
    ),
  );
  await t.resolves(send('all', 2000n));
  await settle('all', 0n, 50n);
  await t.rejects(send('more', 0n), {
    code: 'BUDGET_SPENT',
    details: { rule: 'fee_per_hour', remaining: '0', asked: '1' },
  });
});

t.test('a failure of the write is told, and does not stop those behind', async (t) => {
  const { guard, send, total } = await stage(t, { valuePerHour: 10n });
  const asked = { chain, relayerId: 'r', transactionId: 'x', request: { effect: 'pay', cost: '1' } };
  const spender = { pluginId: 'p', caveats: { valuePerHour: 10n } };
  const failing = guard.within(spender, asked, () => Promise.reject(new Error('disk full')));
  const behind = send('a', 10n);
  await t.rejects(failing, /disk full/);
  await t.resolves(behind);
  t.equal(await total(), 1);
});

t.test('a family that cannot tell what is sent is not limited, but refused', async (t) => {
  const store: Store = await storeFor(t);
  const { spending: _, ...rest } = chain;
  const mute = Object.assign(Object.create(FakeFamily.prototype), rest) as FakeFamily;
  const asked = { chain: mute, relayerId: 'r', transactionId: 'x', request: {} };
  const within = createSpendingGuard(store).within(
    { pluginId: 'p', caveats: { valuePerCall: 1n } },
    asked,
    async () => 1,
  );
  await t.rejects(within, { code: 'NOT_AVAILABLE_YET' });
});
