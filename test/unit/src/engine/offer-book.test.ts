import t from 'tap';
import { OfferBook } from '../../../../src/engine/offer-book.ts';

t.test('failures are counted in a row; an acceptance ends the row', async (t) => {
  const book = new OfferBook();
  t.equal(book.failed('a'), 1);
  t.equal(book.failed('a'), 2);
  t.equal(book.failed('b'), 1);
  book.accepted('a', 0);
  t.equal(book.failed('a'), 1);
});

t.test('an offer is stale when no node took it, or the last one long ago', async (t) => {
  const book = new OfferBook();
  t.ok(book.isStale('a', 0, 100));
  book.accepted('a', 50);
  t.notOk(book.isStale('a', 149, 100));
  t.ok(book.isStale('a', 150, 100));
  book.accepted('a', 150);
  book.failed('a');
  t.notOk(book.isStale('a', 151, 100), 'a later failure does not take the acceptance back');
});

t.test('what is forgotten takes no room', async (t) => {
  const book = new OfferBook();
  book.failed('a');
  book.accepted('b', 1);
  book.forget('a');
  book.forget('b');
  t.equal(book.size, 0);
});
