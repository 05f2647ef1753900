import t from 'tap';
import { batchOperations } from '../../../../../src/http/openapi/batch-operations.ts';
import { batchSchema } from '../../../../../src/http/routes/batches.ts';
import { describedBodies } from '../../../../support/described.ts';

t.test('the example is a batch, and both kinds of outcomes have their shape', (t) => {
  const operation = batchOperations(describedBodies())['POST /api/v1/transactions/batch'];
  t.ok(batchSchema.safeParse(operation?.body?.example).success);
  const refused = {
    status: 400,
    success: false,
    data: null,
    error: 'a',
    message: 'b',
    code: 'INVALID_REQUEST',
    retryable: false,
  };
  const parsed = operation?.answer.schema.safeParse({ success: true, data: [refused], error: null });
  t.ok(parsed?.success);
  t.end();
});
