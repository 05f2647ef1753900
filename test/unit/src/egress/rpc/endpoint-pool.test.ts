import t from 'tap';
import type { Clock } from '../../../../../src/domain/clock.ts';
import type { EndpointNews } from '../../../../../src/domain/endpoint-news.ts';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';
import { createEndpointPool } from '../../../../../src/egress/rpc/endpoint-pool.ts';

const SETTINGS = {
  failureThreshold: 3,
  failureMemoryMs: 60_000,
  pauseMs: 60_000,
  limitMs: 1_000,
  limitCapMs: 30_000,
};

class ManualClock implements Clock {
  time = 0;
  now(): number {
    return this.time;
  }
  elapsed(): number {
    return this.time;
  }
}

function poolOf(weights: Record<string, number>, random = () => 0) {
  const clock = new ManualClock();
  const all = Object.entries(weights).map(([name, weight]) =>
    createEndpoint({ url: `http://${name}/key-of-the-operator`, weight }),
  );
  const news: EndpointNews[] = [];
  const contacts: boolean[] = [];
  const pool = createEndpointPool(all, SETTINGS, clock, random, {
    onNews: (one) => news.push(one),
    onContact: (isLost) => contacts.push(isLost),
  });
  const endpoint = (name: string) => {
    const found = all.find(({ url }) => url.host === name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  return { pool, clock, news, contacts, endpoint, order: () => pool.order().map(({ url }) => url.host) };
}

t.test('weight 0 is off, and the rest is drawn by weight', async (t) => {
  let seed = 1;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const { pool, order } = poolOf({ heavy: 90, light: 10, off: 0 }, random);
  t.equal(pool.endpoints.length, 2);
  const draws = Array.from({ length: 2_000 }, order);
  t.ok(draws.every((names) => names.length === 2 && !names.includes('off')));
  const share = draws.filter(([first]) => first === 'heavy').length / draws.length;
  t.ok(share > 0.85 && share < 0.95, `heavy came first in ${share} of the draws`);
});

t.test('three failures within a minute pause an endpoint, which stays the last resort', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100 });
  pool.failed(endpoint('a'), 'HTTP status 500');
  pool.failed(endpoint('a'), 'HTTP status 500');
  t.same(order(), ['a', 'b']);
  pool.failed(endpoint('a'), 'HTTP status 500');
  t.same(order(), ['b', 'a']);
  clock.time = 59_999;
  t.same(order(), ['b', 'a']);
  clock.time = 60_000;
  t.same(order(), ['a', 'b'], 'it comes back by itself');
});

t.test('failures that lie further apart are forgotten', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100 });
  for (const at of [0, 30_000, 60_001]) {
    clock.time = at;
    pool.failed(endpoint('a'), 'HTTP status 500');
  }
  t.same(order(), ['a', 'b']);
});

t.test('when all are paused, the one whose pause ends first is tried first', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100 });
  for (let count = 0; count < 3; count += 1) pool.failed(endpoint('b'), 'HTTP status 500');
  clock.time = 5;
  for (let count = 0; count < 3; count += 1) pool.failed(endpoint('a'), 'HTTP status 500');
  t.same(order(), ['b', 'a']);
});

t.test('an endpoint that asks to be left alone is', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100 });
  pool.hold(endpoint('a'), 2_000);
  t.same(order(), ['b', 'a']);
  t.equal(pool.waitMs(), 0, 'another one is there');
  pool.hold(endpoint('b'), 500);
  t.equal(pool.waitMs(), 500);
  clock.time = 700;
  t.equal(pool.waitMs(), 0);
  t.same(order(), ['b', 'a']);
});

t.test('of two pauses the longer one holds, whichever was asked for last', async (t) => {
  const { pool, clock, endpoint } = poolOf({ a: 100, b: 100 });
  const a = endpoint('a');
  for (const [ms, wait] of [
    [2_000, 2_000],
    [500, 2_000],
    [3_000, 3_000],
  ] as const) {
    pool.hold(a, ms);
    t.equal(pool.waitMs(a), wait);
  }
  for (const ms of [4_000, 500]) pool.exclude(a, ms, 'other chain');
  clock.time = 3_999;
  t.equal(pool.stateOf(a), 'unfit');
});

t.test('one that says it is asked too much is left alone, the longer the oftener it says so in a row', async (t) => {
  const { pool, clock, endpoint, news } = poolOf({ a: 100 });
  const a = endpoint('a');
  const refuse = () => {
    pool.limited(a, 'http://a answered with HTTP status 429');
    pool.limited(a, 'a further answer to the same burst');
    const pause = pool.waitMs(a);
    // Answers to calls that were under way before the pause do not shorten it.
    pool.requestAnswered(a);
    pool.served(a);
    clock.time += pause;
    return pause;
  };
  const pauses = Array.from({ length: 8 }, refuse);
  t.strictSame(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  t.match(news, [{ kind: 'limited', reason: 'http://a answered with HTTP status 429', forMs: 1_000 }]);
  t.equal(news.length, 1);
  pool.requestAnswered(a);
  pool.served(a);
  t.strictSame([refuse(), refuse()], [21_000, 30_000], 'only the second in a row asks for a slower pace');
  t.equal(news.length, 1, 'it comes and goes');
});

t.test(
  'one that has refused is asked one by one, faster with each that is served, and at last as before',
  async (t) => {
    const { pool, clock, contacts, endpoint, news, order } = poolOf({ a: 100, b: 1 });
    const [a, b] = [endpoint('a'), endpoint('b')];
    pool.requestSent(a);
    t.ok(pool.isReady(a), 'at full speed');
    pool.limited(a, 'http://a answered with HTTP status 429');
    t.notOk(pool.isWorthWaiting(a), 'the other one is ready');
    pool.failed(b, 'http://b: no answer');
    t.strictSame(contacts, [true]);
    const gaps: number[] = [];
    do {
      clock.time += pool.waitMs(a);
      t.ok(pool.isReady(a));
      pool.requestSent(a);
      gaps.push(pool.waitMs(a));
      t.equal(pool.stateOf(a), 'ready');
      t.equal(order().at(-1), gaps.at(-1) === 0 ? 'b' : 'a');
      pool.requestAnswered(a);
      t.strictSame(contacts, [true, false], 'it is there, though no call may have come to its end');
      pool.served(a);
    } while (gaps.at(-1) !== 0);
    t.strictSame(gaps, [1_000, 700, 490, 343, 241, 169, 118, 0]);
    t.match(news.slice(1), [{ kind: 'back' }]);
  },
);

t.test('to wait for an endpoint is best where no other is ready, and while it is not gone', async (t) => {
  const { pool, clock, endpoint } = poolOf({ a: 100, b: 100 });
  const [a, b] = [endpoint('a'), endpoint('b')];
  pool.limited(a, '429');
  t.notOk(pool.isWorthWaiting(a));
  pool.limited(b, '429');
  t.ok(pool.isWorthWaiting(a));
  clock.time = 5_000;
  pool.limited(a, '429');
  pool.limited(b, '429');
  t.notOk(pool.isWorthWaiting(a), 'for 5 s none has served');
});

t.test('an endpoint that answers requests is not gone, though no call of several requests comes through', async (t) => {
  const { pool, clock, endpoint } = poolOf({ a: 100 });
  const a = endpoint('a');
  pool.failed(a, 'http://a: the connection was cut');
  clock.time = 6_000;
  t.ok(pool.isGone());
  pool.requestAnswered(a);
  pool.failed(a, 'http://a: the connection was cut');
  t.notOk(pool.isGone());
  t.ok(pool.isWorthWaiting(a));
  clock.time = 11_000;
  t.ok(pool.isGone(), 'for 5 s it has answered nothing');
});

t.test('the contact is lost when the last word of all was trouble, and told once each way', async (t) => {
  const { pool, clock, contacts, endpoint } = poolOf({ a: 100, b: 100, off: 0 });
  const [a, b] = [endpoint('a'), endpoint('b')];
  t.strictSame({ ...pool.contact }, { isLost: false, servedAt: null });
  pool.failed(a, 'http://a: no answer');
  pool.served(a);
  pool.failed(b, 'http://b: no answer');
  t.strictSame(contacts, []);
  pool.limited(a, 'http://a answered with HTTP status 429');
  pool.failed(b, 'http://b: no answer');
  t.strictSame(contacts, [true]);
  clock.time = 10;
  pool.served(a);
  t.strictSame(contacts, [true], 'it is left alone all the same');
  pool.served(b);
  t.strictSame(contacts, [true, false]);
  pool.exclude(b, 1_000, 'other chain');
  t.strictSame({ ...pool.contact }, { isLost: true, servedAt: 10 });
  pool.served(b);
  t.strictSame(contacts, [true, false, true], 'what one of another chain serves is no contact');
  clock.time = 5_000;
  pool.served(a);
  t.strictSame({ ...pool.contact }, { isLost: false, servedAt: 5_000 });
});

t.test('an endpoint that is excluded is left out, and comes back by itself', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100 });
  t.ok(pool.exclude(endpoint('a'), 1_000, 'other chain'));
  t.same(order(), ['b']);
  t.notOk(pool.isReady(endpoint('a')));
  clock.time = 1_000;
  t.same(order(), ['a', 'b']);
  t.ok(pool.isReady(endpoint('a')));
});

t.test('the last that is left is never excluded, however badly the others do', async (t) => {
  const { pool, clock, endpoint, order } = poolOf({ a: 100, b: 100, off: 0 });
  for (let count = 0; count < 3; count += 1) pool.failed(endpoint('b'), 'HTTP status 500');
  t.ok(pool.exclude(endpoint('a'), 1_000, 'other chain'));
  t.notOk(pool.exclude(endpoint('b'), 1_000, 'other chain'));
  t.same(order(), ['b']);
  t.notOk(pool.isReady(endpoint('b')), 'it is paused');
  clock.time = 999;
  t.notOk(pool.exclude(endpoint('b'), 1_000, 'other chain'));
  const single = poolOf({ only: 100 });
  t.notOk(single.pool.exclude(single.endpoint('only'), 1_000, 'other chain'));
});

t.test('one that is excluded gives no hope to those that wait', async (t) => {
  const { pool, endpoint } = poolOf({ a: 100, b: 100 });
  pool.exclude(endpoint('a'), 1_000, 'other chain');
  pool.hold(endpoint('b'), 500);
  t.equal(pool.waitMs(), 500);
});

t.test('a pause is told once, with its reason, and the first service after it', (t) => {
  const { pool, clock, news, endpoint } = poolOf({ a: 1, b: 1 });
  const a = endpoint('a');
  pool.served(a);
  for (let count = 0; count < 9; count += 1) pool.failed(a, 'http://a: no answer within 10 ms');
  t.strictSame(news, [
    { kind: 'paused', endpoint: 'http://a', reason: 'http://a: no answer within 10 ms', forMs: 60_000 },
  ]);
  t.equal(pool.stateOf(a), 'paused');
  pool.served(a);
  clock.time = 60_001;
  t.equal(pool.stateOf(a), 'ready');
  pool.failed(a, 'again');
  t.equal(news.length, 1, 'neither what was under way nor a further failure is news');
  clock.time = 121_000;
  pool.served(a);
  pool.served(a);
  t.strictSame(news.slice(1), [{ kind: 'back', endpoint: 'http://a' }]);
  t.notMatch(JSON.stringify(news), 'key-of-the-operator');
  t.end();
});

t.test('an endpoint that refuses in turn with and without a time is told of once each', (t) => {
  const { pool, news, endpoint } = poolOf({ a: 1, b: 1 });
  for (let count = 0; count < 9; count += 1) {
    pool.hold(endpoint('a'), 500);
    pool.failed(endpoint('a'), 'http://a answered with HTTP status 429');
  }
  t.match(news, [{ kind: 'limited', forMs: 500 }, { kind: 'paused' }]);
  t.equal(news.length, 2);
  t.equal(pool.stateOf(endpoint('a')), 'limited');
  t.end();
});

t.test('one of another chain is unfit until its time is over, whatever it takes meanwhile', (t) => {
  const { pool, clock, news, endpoint } = poolOf({ a: 1, b: 1 });
  pool.exclude(endpoint('a'), 1_000, 'it serves chain 5, not 1');
  pool.exclude(endpoint('a'), 1_000, 'it serves chain 5, not 1');
  pool.served(endpoint('a'));
  t.match(news, [{ kind: 'unfit', reason: 'it serves chain 5, not 1' }]);
  t.equal(news.length, 1);
  t.equal(pool.stateOf(endpoint('a')), 'unfit');
  clock.time = 1_001;
  pool.served(endpoint('a'));
  t.match(news[1], { kind: 'back' });
  t.end();
});

t.test('who is behind for a moment is not spoken of, who stays behind is, once', (t) => {
  const { pool, clock, news, endpoint } = poolOf({ a: 1, b: 1 });
  const lag = (at: number) => {
    clock.time = at;
    pool.lagged(endpoint('a'), 'its head is block 3, and block 9 was seen');
  };
  lag(0);
  lag(29_000);
  pool.caughtUp(endpoint('a'));
  lag(31_000);
  lag(60_000);
  t.strictSame(news, []);
  lag(61_000);
  lag(99_000);
  t.match(news, [{ kind: 'behind', endpoint: 'http://a' }]);
  pool.caughtUp(endpoint('a'));
  pool.caughtUp(endpoint('a'));
  t.match(news[1], { kind: 'back' });
  t.equal(news.length, 2);
  t.end();
});

t.test('what an endpoint serves meanwhile says nothing of its height', (t) => {
  const { pool, clock, news, endpoint } = poolOf({ a: 1, b: 1 });
  const a = endpoint('a');
  for (let at = 0; at <= 30_000; at += 1_000) {
    clock.time = at;
    pool.lagged(a, 'its head is block 3, and block 9 was seen');
    pool.served(a);
  }
  t.match(news, [{ kind: 'behind', endpoint: 'http://a' }], 'told in time, and not taken back');
  t.equal(news.length, 1);
  for (let count = 0; count < 3; count += 1) pool.failed(a, 'HTTP status 500');
  pool.caughtUp(a);
  t.match(news.slice(1), [{ kind: 'paused' }]);
  t.equal(news.length, 2, 'a pause is not over because it has caught up');
  clock.time = 100_000;
  pool.served(a);
  t.match(news[2], { kind: 'back' });
  t.end();
});

t.test('two moments behind that lie far apart are not one long time', (t) => {
  const { pool, clock, news, endpoint } = poolOf({ a: 1, b: 1 });
  const lag = (at: number) => {
    clock.time = at;
    pool.lagged(endpoint('a'), 'its head is block 3, and block 9 was seen');
  };
  lag(1_000);
  lag(3_600_000);
  lag(3_629_999);
  t.strictSame(news, []);
  lag(3_630_000);
  t.match(news, [{ kind: 'behind' }]);
  t.end();
});
