import t from 'tap';
import { countRequests } from '../../../../../src/store/migrations/count-requests.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('requests are counted in a table of their own', async (t) => {
  const { take } = await beforeStep(t, countRequests);
  t.strictSame(await take(), ['rate_buckets']);
});
