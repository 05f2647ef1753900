import t from 'tap';
import { knowInstances } from '../../../../../src/store/migrations/know-instances.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('instances say what they say of themselves in a table of their own', async (t) => {
  const { take } = await beforeStep(t, knowInstances);
  t.strictSame(await take(), ['instances']);
});
