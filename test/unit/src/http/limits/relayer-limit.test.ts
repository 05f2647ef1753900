import t from 'tap';
import { createRelayerLimit } from '../../../../../src/http/limits/relayer-limit.ts';
import { TokenBuckets } from '../../../../../src/http/limits/token-buckets.ts';

t.test('each relayer has its own bucket, and who is refused is told the limit and when to come back', async (t) => {
  let now = 0;
  const buckets = new TokenBuckets({ perSecond: 1_000, burst: 1_000 }, { elapsed: () => now });
  const limit = createRelayerLimit(buckets, { perSecond: 1, burst: 2 });
  await limit.take('r1');
  await limit.take('r1');
  await t.rejects(limit.take('r1'), {
    code: 'RELAYER_LIMITED',
    status: 429,
    publicMessage: 'Too Many Requests',
    message: 'Relayer r1 is rate limited: at most 1 requests a second, and 2 at once',
    retryAfterSeconds: 1,
  });
  await limit.take('r2');
  t.equal(buckets.take('key r1').remaining, 999, 'keys are counted apart');
  now = 1_000;
  await limit.take('r1');
  now = 2_000;
  await t.rejects(limit.take('r1', 2), { code: 'RELAYER_LIMITED', retryAfterSeconds: 1 }, 'both or none');
  await limit.take('r1');
  await t.rejects(limit.take('r1', 3), { code: 'INVALID_REQUEST', message: /3 calls are more than the 2/ });
});
