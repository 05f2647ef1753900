import t from 'tap';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { OpenTransactions } from '../../../../../src/engine/lane/open-transactions.ts';
import { pendingTransaction } from '../../../../support/engine-world.ts';
import { attemptOf } from '../../../../support/store.ts';

/** A store that returns this settled sequence and one open transaction for a lane, and records the calls. */
function storeOf(settled: bigint | null) {
  const asked: string[] = [];
  const entries = [{ transaction: pendingTransaction('pay', { id: 'one' }), attempts: [] }];
  return {
    asked,
    openTransactions: async (lane: string) => (asked.push(`open of ${lane}`), entries),
    settledSequence: async (lane: string) => (asked.push(`settled of ${lane}`), settled),
  };
}

t.test('what is open is read at once, what is settled when it is asked for, each once', async (t) => {
  const store = storeOf(5n);
  const book = await OpenTransactions.read(store, 'lane');
  t.strictSame([...book.entries.keys()], ['one']);
  t.strictSame(store.asked, ['open of lane']);
  t.equal(await book.settled(), 5n);
  t.equal(await book.settled(), 5n);
  t.strictSame(store.asked, ['open of lane', 'settled of lane']);
});

t.test('the settled sequence rises with the transactions that end', async (t) => {
  const book = await OpenTransactions.read(storeOf(5n), 'lane');
  book.ended(9n);
  t.equal(await book.settled(), 5n, 'what ended before it was read is in the store');
  book.ended(4n);
  book.ended(null);
  t.equal(await book.settled(), 5n);
  book.ended(7n);
  t.equal(await book.settled(), 8n);
});

t.test('without a history the first end sets the settled sequence', async (t) => {
  const book = await OpenTransactions.read(storeOf(null), 'lane');
  t.equal(await book.settled(), null);
  book.ended(0n);
  t.equal(await book.settled(), 1n);
});

t.test('the order by sequence follows what comes, changes and goes', async (t) => {
  const book = await OpenTransactions.read(storeOf(null), 'lane');
  const put = (id: string, sequence: bigint) =>
    book.set(id, { transaction: pendingTransaction('pay', { id, sequence }), attempts: [] });
  const order = () => book.bySequence.map(({ transaction }) => transaction.id);
  book.delete('one');
  put('b', 7n);
  put('a', 2n ** 63n);
  t.strictSame(order(), ['b', 'a']);
  t.equal(book.bySequence, book.bySequence, 'sorted once');
  put('c', 8n);
  t.strictSame(order(), ['b', 'c', 'a']);
  put('b', 9n);
  t.strictSame(order(), ['c', 'b', 'a']);
  book.delete('c');
  t.strictSame(order(), ['b', 'a']);
});

t.test('what an attempt can cost is asked of its family once, also after a node took it', async (t) => {
  const book = await OpenTransactions.read(storeOf(null), 'lane');
  const attempts = ['7', '9', '2'].map((cost) => attemptOf(pendingTransaction('pay'), { fields: { cost } }));
  let asked = 0;
  const chain = { costOf: ({ fields }: { fields: JsonObject }) => ((asked += 1), BigInt(String(fields['cost']))) };
  t.equal(book.dearestCost(chain, attempts), 9n);
  const taken = attempts.map((attempt) => ({ ...attempt, acceptedAt: 5 }));
  t.equal(book.dearestCost(chain, taken), 9n);
  t.equal(asked, 3);
  t.equal(book.dearestCost(chain, []), 0n);
});
