import t from 'tap';
import { OpenBook } from '../../../../../src/engine/lane/open-transactions.ts';
import { pendingTransaction } from '../../../../support/engine-world.ts';

/** What a store says of a lane, and what it was asked. */
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
  const book = await OpenBook.read(store, 'lane');
  t.strictSame([...book.entries.keys()], ['one']);
  t.strictSame(store.asked, ['open of lane']);
  t.equal(await book.settled(), 5n);
  t.equal(await book.settled(), 5n);
  t.strictSame(store.asked, ['open of lane', 'settled of lane']);
});

t.test('what is settled goes up with what ends', async (t) => {
  const book = await OpenBook.read(storeOf(5n), 'lane');
  book.ended(9n);
  t.equal(await book.settled(), 5n, 'what ended before it was read is in the store');
  book.ended(4n);
  book.ended(null);
  t.equal(await book.settled(), 5n);
  book.ended(7n);
  t.equal(await book.settled(), 8n);
});

t.test('an account without history begins with what ends first', async (t) => {
  const book = await OpenBook.read(storeOf(null), 'lane');
  t.equal(await book.settled(), null);
  book.ended(0n);
  t.equal(await book.settled(), 1n);
});
