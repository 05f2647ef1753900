import t from 'tap';
import { networks } from '../../../../../src/store/migrations/networks.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('networks get a table', async (t) => {
  const { take } = await beforeStep(t, networks);
  t.strictSame(await take(), ['networks']);
});
