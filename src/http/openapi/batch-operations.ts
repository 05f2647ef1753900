import { z } from 'zod';
import { batchSchema } from '../batch/batch.ts';
import { envelope, failureSchema } from './answers.ts';
import { BODY, type ChainBodies, found, type Operation } from './operation.ts';

/** The operation that sends several transactions. */
export function batchOperations({ request, transaction }: ChainBodies): Record<string, Operation> {
  const sent = envelope(transaction).extend({
    status: z.literal(200),
    replayed: z
      .literal(true)
      .optional()
      .meta({ description: 'It is the answer of an earlier request with the same key' }),
  });
  const refused = failureSchema.extend({ status: z.int().meta({ description: 'As a single request would have' }) });
  const one = { relayer_id: 'sepolia-1', idempotency_key: 'order-1042', transaction: request.example };
  return {
    'POST /api/v1/transactions/batch': {
      id: 'sendTransactions',
      tag: 'Transactions',
      summary: 'Send several transactions, each with an outcome of its own',
      description:
        'At most 100. Those of one relayer are accepted in their order; one that is refused does not hold up the others. ' +
        'Each may have an idempotency key, which is the same as that of a single request. With a key of its own the whole ' +
        'batch is safe to repeat; what was refused and may go well later is tried again then. It counts as so many requests ' +
        'of the key’s rate as it has: there is room for all of them, or none is sent (429).',
      body: { schema: batchSchema, required: true, example: { requests: [one] } },
      answer: found('One outcome for each request, in their order', envelope(z.array(z.union([sent, refused])))),
      errors: BODY,
    },
  };
}
