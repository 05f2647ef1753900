import t from 'tap';
import { TokenBuckets } from '../../../../../src/http/limits/token-buckets.ts';
import { fc } from '../../../../support/properties.ts';

/** A clock that the test moves. */
class HandClock {
  now = 0;
  elapsed = (): number => this.now;
}

t.test('a key may have a rate of its own', (t) => {
  let now = 0;
  const buckets = new TokenBuckets({ perSecond: 1, burst: 5 }, { elapsed: () => now });
  const slow = { perSecond: 0.5, burst: 1 };
  t.match(buckets.take('key slow', slow), { allowed: true, limit: 1, remaining: 0, resetSeconds: 2 });
  t.match(buckets.take('key slow', slow), { allowed: false, retryAfterSeconds: 2 });
  t.match(buckets.take('key other'), { allowed: true, limit: 5, remaining: 4 });
  now = 2_000;
  t.match(buckets.take('key slow', slow), { allowed: true });
  t.end();
});

t.test('a full bucket gives its burst, then one token for each that comes back', (t) => {
  const clock = new HandClock();
  const buckets = new TokenBuckets({ perSecond: 2, burst: 3 }, clock);
  t.strictSame(buckets.take('a'), { allowed: true, limit: 3, remaining: 2, resetSeconds: 1, retryAfterSeconds: 0 });
  t.match(buckets.take('a'), { allowed: true, remaining: 1 });
  t.match(buckets.take('a'), { allowed: true, remaining: 0, resetSeconds: 2 });
  t.match(buckets.take('a'), { allowed: false, remaining: 0, retryAfterSeconds: 1 });
  clock.now = 499;
  t.match(buckets.take('a'), { allowed: false });
  clock.now = 500;
  t.match(buckets.take('a'), { allowed: true, remaining: 0 });
  t.match(buckets.take('a'), { allowed: false }, 'refusals cost nothing and give nothing');
  t.end();
});

t.test('who is refused learns how long to wait', (t) => {
  const clock = new HandClock();
  const buckets = new TokenBuckets({ perSecond: 0.1, burst: 1 }, clock);
  buckets.take('a');
  t.equal(buckets.take('a').retryAfterSeconds, 10);
  clock.now = 9500;
  t.equal(buckets.take('a').retryAfterSeconds, 1);
  clock.now = 10_000;
  t.ok(buckets.take('a').allowed);
  t.end();
});

t.test('subjects do not share', (t) => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, new HandClock());
  t.ok(buckets.take('a').allowed);
  t.ok(buckets.take('b').allowed);
  t.notOk(buckets.take('a').allowed);
  t.end();
});

t.test('the table is bounded, and what is full again is forgotten', (t) => {
  const clock = new HandClock();
  const buckets = new TokenBuckets({ perSecond: 1, burst: 5, most: 100 }, clock);
  for (let n = 0; n < 10_000; n += 1) buckets.take(`made up ${n}`);
  t.equal(buckets.size, 100);
  clock.now = 60_000;
  buckets.take('a');
  t.equal(buckets.size, 1);
  t.end();
});

t.test('the bucket of a key outlasts a flood of addresses, and fills at its own pace', (t) => {
  const clock = new HandClock();
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2, most: 100 }, clock);
  const flood = (round: number) => {
    for (let n = 0; n < 300; n += 1) buckets.take(`address 2001:db8:${round}:${n}::/64`);
  };
  buckets.take('key default');
  flood(1);
  t.match(buckets.take('key default'), { allowed: true, remaining: 0 });
  flood(2);
  flood(3);
  t.match(buckets.take('key default'), { allowed: false, remaining: 0, retryAfterSeconds: 1 });
  t.equal(buckets.size, 101, 'the addresses have their own room');
  clock.now = 1000;
  t.match(buckets.take('key default'), { allowed: true, remaining: 0 });
  clock.now = 60_000;
  t.match(buckets.take('key default'), { allowed: true, remaining: 1 }, 'and no fuller than full');
  t.end();
});

t.test('in any second, whatever the pattern, nobody gets more than the burst and the rate', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 200 }),
      (perSecond, burst, pauses) => {
        const clock = new HandClock();
        const buckets = new TokenBuckets({ perSecond, burst }, clock);
        let given = 0;
        for (const pause of pauses) {
          clock.now += pause;
          const verdict = buckets.take('a');
          given += verdict.allowed ? 1 : 0;
          if (verdict.remaining < 0 || verdict.remaining >= burst + 1) return false;
        }
        return given <= burst + (clock.now / 1000) * perSecond + 1e-6;
      },
    ),
  );
  t.pass('for every pattern that was tried');
  t.end();
});

t.test('several tokens are taken together, or none', (t) => {
  const clock = new HandClock();
  const buckets = new TokenBuckets({ perSecond: 2, burst: 5 }, clock);
  t.match(buckets.take('key a', undefined, 3), { allowed: true, remaining: 2 });
  t.match(buckets.take('key a', undefined, 3), { allowed: false, remaining: 2, retryAfterSeconds: 1 });
  t.match(buckets.take('key a', undefined, 2), { allowed: true, remaining: 0 }, 'the refusal cost nothing');
  t.match(buckets.take('key a', undefined, 5), { allowed: false, retryAfterSeconds: 3 });
  clock.now = 2_500;
  t.match(buckets.take('key a', undefined, 5), { allowed: true, remaining: 0 }, 'and its word is true');
  t.end();
});
