import t from 'tap';
import { createTransactionEvents } from '../../../../../src/services/transaction-events.ts';
import { storeFor, transactionOf } from '../../../../support/store.ts';

t.test('it tells of what is stored, and when to look', async (t) => {
  const store = await storeFor(t);
  const heard: (() => void)[] = [];
  const events = createTransactionEvents(store, {
    onNews: (listener) => {
      heard.push(listener);
      return () => heard.pop();
    },
  });
  const before = await events.latest();
  await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'a' })));
  t.match(await events.after(before, 5), [{ transactionId: 'a', status: 'pending' }]);
  t.ok(await events.isKept(await events.latest()));
  const stop = events.onNews(() => {});
  t.equal(heard.length, 1);
  stop();
  t.equal(heard.length, 0);
});
