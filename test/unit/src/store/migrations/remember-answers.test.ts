import t from 'tap';
import { rememberAnswers } from '../../../../../src/store/migrations/remember-answers.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('keys and effects get their tables', async (t) => {
  const { take } = await beforeStep(t, rememberAnswers);
  t.strictSame(await take(), ['effects', 'idempotency_keys']);
});
