import t from 'tap';
import { OpenBook } from '../../../../src/engine/open-book.ts';

t.test('what is settled is read once and then goes up with what ends', async (t) => {
  let reads = 0;
  const read = {
    openTransactions: async () => [],
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
  const book = await OpenBook.read({ openTransactions: async () => [], settled: async () => null }, 'lane');
  t.equal(await book.settled(), null);
  book.ended(0n, 2);
  t.strictSame(await book.settled(), { sequence: 1n, at: 2 });
});
