import t from 'tap';
import { BroadcastHistory } from '../../../../../src/engine/lane/broadcast-history.ts';
import { pendingTransaction } from '../../../../support/engine-world.ts';

t.test('failures are counted in a row; an acceptance ends the row', async (t) => {
  const book = new BroadcastHistory();
  t.equal(book.failed('a'), 1);
  t.equal(book.failed('a'), 2);
  t.equal(book.failed('b'), 1);
  book.accepted('a', 0);
  t.equal(book.failed('a'), 1);
});

t.test('an offer is stale when no node took it, or the last one long ago', async (t) => {
  const book = new BroadcastHistory();
  t.ok(book.isStale('a', 0, 100));
  book.accepted('a', 50);
  t.notOk(book.isStale('a', 149, 100));
  t.ok(book.isStale('a', 150, 100));
  book.accepted('a', 150);
  book.failed('a');
  t.notOk(book.isStale('a', 151, 100), 'a later failure does not take the acceptance back');
});

t.test('what was offered and not taken is known until a further version is signed', async (t) => {
  const book = new BroadcastHistory();
  book.failed('a');
  t.notOk(book.wasNotTaken('a'), 'it was not even offered');
  book.isNews('a', 'anchor-ahead');
  t.ok(book.wasNotTaken('a'));
  book.signedAnew('a');
  t.notOk(book.wasNotTaken('a'));
});

t.test('a node that did not answer has not turned an attempt away', async (t) => {
  const book = new BroadcastHistory();
  t.notOk(book.wasTurnedAway('a'));
  book.isNews('a', 'unknown');
  t.notOk(book.wasTurnedAway('a'));
  book.isNews('a', 'busy');
  t.ok(book.wasTurnedAway('a'));
});

t.test('words that nobody knows count while they stay the same, but for their figures', async (t) => {
  const book = new BroadcastHistory();
  const say = (times: number, words = 'declined') => {
    for (let time = 0; time < times; time += 1) book.turnedAway('a', `${words} (trace ${time}, 0xab${time})`, time);
  };
  say(9);
  t.notOk(book.isTurnedAway('a', 1_000, 100), 'not often enough');
  say(1);
  t.ok(book.isTurnedAway('a', 1_000, 100));
  t.notOk(book.isTurnedAway('a', 99, 100), 'not for long enough');
  book.notTurnedAway('a');
  t.notOk(book.isTurnedAway('a', 1_000, 100), 'a node may have it');
  say(9);
  say(1, 'not today');
  t.notOk(book.isTurnedAway('a', 1_000, 100), 'other words');
  say(9, 'not today');
  t.ok(book.isTurnedAway('a', 1_000, 100));
  book.signedAnew('a');
  t.notOk(book.isTurnedAway('a', 1_000, 100), 'nothing was said of the new attempt');
});

t.test('what is forgotten takes no room', async (t) => {
  const book = new BroadcastHistory();
  book.failed('a');
  book.accepted('b', 1);
  book.forget('a');
  book.forget('b');
  t.equal(book.size, 0);
});

const waiting = (id: string) => ({ ...pendingTransaction('pay'), id, relayerId: 'r1' });

t.test('why a transaction waits is known until it goes on, and told anew when it is another reason', (t) => {
  const book = new BroadcastHistory();
  t.equal(book.causeOf('a'), undefined);
  t.ok(book.park(waiting('a'), 'price', 0));
  t.notOk(book.park(waiting('a'), 'price', 5));
  t.ok(book.park(waiting('a'), 'balance', 9));
  book.accepted('a', 10);
  t.equal(book.causeOf('a'), 'balance', 'an offer of the same bytes changes nothing');
  book.park(waiting('b'), 'budget', 0);
  t.match(book.parked(), [{ relayerId: 'r1', networkType: 'evm', cause: 'balance' }, { cause: 'budget' }]);
  book.signedAnew('a');
  book.forget('b');
  t.strictSame(book.parked(), []);
  t.end();
});

t.test('what nodes say is news once for each version', (t) => {
  const book = new BroadcastHistory();
  t.ok(book.isNews('a', 'busy'));
  t.notOk(book.isNews('a', 'busy'));
  t.ok(book.isNews('a', 'refused'));
  book.accepted('a', 1);
  t.notOk(book.isNews('a', 'busy'));
  book.signedAnew('a');
  t.ok(book.isNews('a', 'busy'));
  t.end();
});
