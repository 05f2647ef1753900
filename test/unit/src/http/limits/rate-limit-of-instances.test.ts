import t from 'tap';
import { RateLimitOfInstances } from '../../../../../src/http/limits/rate-limit-of-instances.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import type { BucketAnswer, BucketSize, Buckets } from '../../../../../src/store/buckets.ts';

const verdict = { allowed: true, limit: 9, remaining: 8, resetSeconds: 1, retryAfterSeconds: 0 };

/** Buckets that give the answer the test sets. */
class FakeBuckets implements Buckets {
  asked: { subject: string; size: BucketSize; count: number | undefined }[] = [];
  answer: BucketAnswer | Error = { allowed: true, missingUs: 0 };

  async take(subject: string, size: BucketSize, count?: number): Promise<BucketAnswer> {
    this.asked.push({ subject, size, count });
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

function start() {
  const buckets = new FakeBuckets();
  const locally: string[] = [];
  const lines: string[] = [];
  const local = {
    take(subject: string) {
      locally.push(subject);
      return verdict;
    },
  };
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const limiter = new RateLimitOfInstances({ local, buckets, rate: { perSecond: 4, burst: 8 }, log });
  return { limiter, buckets, locally, lines };
}

t.test('keys are counted in the store', async (t) => {
  const { limiter, buckets, locally } = start();
  buckets.answer = { allowed: true, missingUs: 500_000 };
  t.strictSame(await limiter.take('key default'), {
    allowed: true,
    limit: 8,
    remaining: 6,
    resetSeconds: 1,
    retryAfterSeconds: 0,
  });
  buckets.answer = { allowed: false, missingUs: 2_000_000 };
  t.match(await limiter.take('key default'), { allowed: false, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 });
  t.strictSame(buckets.asked[0], { subject: 'key default', size: { tokenUs: 250_000, fullUs: 2_000_000 }, count: 1 });
  t.strictSame(locally, []);
});

t.test('several are taken together, and who is refused waits for all of them', async (t) => {
  const { limiter, buckets } = start();
  buckets.answer = { allowed: false, missingUs: 1_500_000 };
  const verdict = await limiter.take('key default', undefined, 6);
  t.match(verdict, { allowed: false, remaining: 2, retryAfterSeconds: 1 }, '2 are there, 4 more take a second');
  t.match(buckets.asked, [{ subject: 'key default', count: 6 }]);
});

t.test('a key with a rate of its own has its own bucket, here and there', async (t) => {
  const { limiter, buckets } = start();
  const rate = { perSecond: 10, burst: 2 };
  t.match(await limiter.take('key own', rate), { limit: 2, remaining: 2 });
  t.match(buckets.asked, [{ subject: 'key own', size: { tokenUs: 100_000, fullUs: 200_000 } }]);
});

t.test('addresses never reach it', (t) => {
  const { limiter, buckets, locally } = start();
  t.equal(limiter.take('address 203.0.113.9'), verdict);
  t.strictSame(locally, ['address 203.0.113.9']);
  t.strictSame(buckets.asked, []);
  t.end();
});

t.test('while the store is away the instance counts for itself, and says so', async (t) => {
  const { limiter, buckets, locally, lines } = start();
  buckets.answer = new Error('connection refused');
  t.strictSame(await limiter.take('key default'), verdict);
  t.strictSame(locally, ['key default']);
  t.match(lines.join(''), 'connection refused');
});
