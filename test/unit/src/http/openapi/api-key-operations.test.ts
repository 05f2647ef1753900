import t from 'tap';
import { apiKeyOperations, apiKeySchema } from '../../../../../src/http/openapi/api-key-operations.ts';

t.test('only the answer that makes a key has it', (t) => {
  const key = {
    id: 'k',
    name: 'n',
    allowed_origins: ['*'],
    created_at: '2026-01-01T00:00:00.000+00:00',
    permissions: ['*'],
    rate_limit: null,
    expires_at: null,
  };
  t.ok(apiKeySchema.safeParse(key).success);
  t.notOk(apiKeySchema.safeParse({ ...key, key: 'iso_x' }).success);
  const made = apiKeyOperations['POST /api/v1/api-keys']?.answer.schema;
  t.ok(made?.safeParse({ success: true, error: null, data: { ...key, key: 'iso_x' } }).success);
  t.end();
});
