import t from 'tap';
import { OpenBook } from '../../../../src/engine/open-book.ts';

t.test('what is settled is read once and then goes up with what ends', async (t) => {
  let reads = 0;
  const read = {
    openTransactions: async () => [],
    settledSequence: async () => {
      reads += 1;
      return 5n;
    },
  };
  const book = await OpenBook.read(read, 'lane');
  t.equal(book.entries.size, 0);
  book.settled(9n);
  t.equal(await book.settledSequence(), 5n, 'nothing is known before it is read');
  book.settled(4n);
  book.settled(null);
  t.equal(await book.settledSequence(), 5n);
  book.settled(7n);
  t.equal(await book.settledSequence(), 8n);
  t.equal(reads, 1);
});

t.test('an account without history begins with what ends first', async (t) => {
  const book = await OpenBook.read({ openTransactions: async () => [], settledSequence: async () => null }, 'lane');
  t.equal(await book.settledSequence(), null);
  book.settled(0n);
  t.equal(await book.settledSequence(), 1n);
});
