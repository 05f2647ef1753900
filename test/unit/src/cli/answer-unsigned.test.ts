import t, { type Test } from 'tap';
import { answerUnsigned } from '../../../../src/cli/answer-unsigned.ts';
import type { Store } from '../../../../src/store/store.ts';
import { relayerOf, storeFor, transactionOf } from '../../../support/store.ts';

async function storeWithOne(t: Test): Promise<Store> {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf());
    await writer.insertTransaction(transactionOf({ id: 'a', status: 'pending' }));
    await writer.putHistory({ epochs: ['first'], place: null });
  });
  return store;
}

t.test('without an answer nothing changes; with one the database begins a new epoch', async (t) => {
  const store = await storeWithOne(t);
  await t.rejects(answerUnsigned(store, { answer: undefined, folder: 'f' }), { name: 'UnsignedTransactions' });
  t.strictSame((await store.read.history()).epochs, ['first']);
  const known = await answerUnsigned(store, { answer: 'send', folder: 'f' });
  t.strictSame((await store.read.history()).epochs, ['first', known.epoch]);
  t.equal(await store.read.unsignedCount(), 1);
  await answerUnsigned(store, { answer: 'fail', folder: 'f' });
  t.equal(await store.read.unsignedCount(), 0);
  await answerUnsigned(store, { answer: undefined, folder: 'f' });
});

t.test('a database that several share is left alone while one of them uses it', async (t) => {
  const store = { ...(await storeWithOne(t)), buckets: { take: async () => 0 } } as unknown as Store;
  const markAt = (at: number) => store.write((writer) => writer.putMark('other', { count: 1, at }));
  await markAt((await store.now()) - 1000);
  await t.rejects(answerUnsigned(store, { answer: 'fail', folder: 'f' }), {
    message: /uses this database, .* in 1\d s/,
  });
  t.equal(await store.read.unsignedCount(), 1);
  await markAt((await store.now()) - 60_000);
  await answerUnsigned(store, { answer: 'fail', folder: 'f' });
  t.equal(await store.read.unsignedCount(), 0);
});
