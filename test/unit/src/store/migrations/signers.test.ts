import t from 'tap';
import { signers } from '../../../../../src/store/migrations/signers.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('signers get a table', async (t) => {
  const { take } = await beforeStep(t, signers);
  t.strictSame(await take(), ['signers']);
});
