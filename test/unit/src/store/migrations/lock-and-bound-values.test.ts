import t from 'tap';
import { lockAndBoundValues } from '../../../../../src/store/migrations/lock-and-bound-values.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('locks and usage get their tables', async (t) => {
  const { take } = await beforeStep(t, lockAndBoundValues);
  t.strictSame(await take(), ['plugin_kv_usage', 'plugin_locks']);
});
