import t from 'tap';
import { apiKeys } from '../../../../../src/store/migrations/api-keys.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('API keys get a table', async (t) => {
  const { take } = await beforeStep(t, apiKeys);
  t.strictSame(await take(), ['api_keys']);
});
