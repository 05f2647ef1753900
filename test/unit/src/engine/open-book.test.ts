import t from 'tap';
import { OpenBook, signedAt } from '../../../../src/engine/open-book.ts';
import { pendingTransaction } from '../../../support/engine-world.ts';
import { attemptOf } from '../../../support/store.ts';

t.test('what is settled is read once and then goes up with what ends', async (t) => {
  let reads = 0;
  const read = {
    openTransactions: async () => [],
    fillers: async () => [],
    settled: async () => {
      reads += 1;
      return { sequence: 5n, at: 1 };
    },
  };
  const book = await OpenBook.read(read, 'lane');
  t.equal(book.entries.size, 0);
  book.ended(9n, 2);
  t.strictSame(await book.settled(), { sequence: 5n, at: 1 }, 'nothing is known before it is read');
  book.ended(4n, 2);
  book.ended(null, 2);
  t.strictSame(await book.settled(), { sequence: 5n, at: 1 });
  book.ended(7n, 2);
  t.strictSame(await book.settled(), { sequence: 8n, at: 2 });
  t.equal(reads, 1);
});

t.test('an account without history begins with what ends first', async (t) => {
  const read = { openTransactions: async () => [], settled: async () => null, fillers: async () => [] };
  const book = await OpenBook.read(read, 'lane');
  t.equal(await book.settled(), null);
  book.ended(0n, 2);
  t.strictSame(await book.settled(), { sequence: 1n, at: 2 });
});

t.test('fillers are read once, since the oldest open one was signed, and then counted', async (t) => {
  const entryOf = (at: number) => {
    const transaction = pendingTransaction('pay', { createdAt: at - 1 });
    return { transaction, attempts: [attemptOf(transaction, { createdAt: at }), attemptOf(transaction)] };
  };
  const asked: unknown[] = [];
  const read = {
    openTransactions: async () => [entryOf(9), entryOf(7)],
    settled: async () => null,
    fillers: async (...question: unknown[]) => (asked.push(question), [{ sequence: 1n, at: 8 }]),
  };
  t.equal(signedAt(entryOf(9)), 9);
  t.equal(signedAt({ ...entryOf(9), attempts: [] }), 8);
  const book = await OpenBook.read(read, 'lane');
  book.filled({ sequence: 1n, at: 8 });
  t.strictSame(await book.fillers(), [{ sequence: 1n, at: 8 }], 'the store knows it');
  book.filled({ sequence: 2n, at: 9 });
  t.equal((await book.fillers()).length, 2);
  t.strictSame(asked, [['lane', 7]]);
});
