import { z } from 'zod';
import { batchSchema } from '../routes/batches.ts';
import { envelope, failureSchema } from './answers.ts';
import { BODY, type ChainBodies, found, type Operation } from './operation.ts';

/** The operation that sends several transactions. */
export function batchOperations({ request, transaction }: ChainBodies): Record<string, Operation> {
  const sent = envelope(transaction).extend({
    status: z.literal(200),
    replayed: z
      .literal(true)
      .optional()
      .meta({ description: 'True if this is the response to an earlier request with the same key, absent otherwise' }),
  });
  const refused = failureSchema.extend({
    status: z.int().meta({ description: 'HTTP status that the same request would get by itself' }),
  });
  const one = { relayer_id: 'sepolia-1', idempotency_key: 'order-1042', transaction: request.example };
  return {
    'POST /api/v1/transactions/batch': {
      id: 'sendTransactions',
      tag: 'Transactions',
      summary: 'Send several transactions',
      description:
        'Takes at most 100 transactions, each with its own outcome. Transactions of one relayer are accepted in the ' +
        'given order; a refused transaction does not stop the others. Each may have an `idempotency_key`, which ' +
        'works like the `Idempotency-Key` header of a single request. With an `Idempotency-Key` header the whole ' +
        'batch is safe to repeat; a repeat tries refused transactions again if they may succeed later. Each ' +
        'transaction counts as one request against the rate limit of the API key. If there is no room for all of ' +
        'them, none is sent (429).',
      body: { schema: batchSchema, required: true, example: { requests: [one] } },
      answer: found('One outcome for each request, in the same order', envelope(z.array(z.union([sent, refused])))),
      errors: BODY,
    },
  };
}
