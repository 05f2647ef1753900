import t from 'tap';
import { createLimits } from '../../../../../src/http/limits/create-limits.ts';
import { RateLimitOfInstances } from '../../../../../src/http/limits/rate-limit-of-instances.ts';
import { TokenBuckets } from '../../../../../src/http/limits/token-buckets.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import type { Buckets } from '../../../../../src/store/buckets.ts';

const parts = { clock: { elapsed: () => 0 }, log: createLog('silent') };
const settings = {
  RATE_LIMIT_REQUESTS_PER_SECOND: 5,
  RATE_LIMIT_BURST_SIZE: 7,
  RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: 0,
  RELAYER_RATE_LIMIT_BURST_SIZE: 3,
};

t.test(
  'one process counts for itself, several in what they share; relayers have a limit where one is set',
  async (t) => {
    const alone = createLimits(settings, { ...parts, buckets: null });
    t.ok(alone.limiter instanceof TokenBuckets);
    t.match(alone.limiter.take('key a'), { limit: 7 });
    t.equal(alone.relayerLimit, undefined);

    const asked: unknown[] = [];
    const buckets: Buckets = {
      async take(subject, size) {
        asked.push([subject, size]);
        return { allowed: true, missingUs: 0 };
      },
    };
    const limited = { ...settings, RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: 10 };
    const shared = createLimits(limited, { ...parts, buckets });
    t.ok(shared.limiter instanceof RateLimitOfInstances);
    await shared.relayerLimit?.take('r1');
    t.strictSame(asked, [['relayer r1', { tokenUs: 100_000, fullUs: 300_000 }]]);
  },
);
