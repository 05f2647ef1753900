import type { FastifyInstance } from 'fastify';
import type { Log } from '../../observability/log.ts';
import type { IdempotencyKeys } from '../../services/idempotency-keys.ts';
import { parseBody } from '../../services/request-body.ts';
import type { TransactionsService } from '../../services/services.ts';
import { success } from '../answers/envelope.ts';
import { batchSchema, sendBatch } from '../batch/batch.ts';
import { accessOf } from '../caller.ts';
import { effectOf } from '../idempotency.ts';
import { bodyOf } from '../json-body.ts';

export interface BatchRouteParts {
  transactions: Pick<TransactionsService, 'send'>;
  keys: Pick<IdempotencyKeys, 'begin' | 'end'>;
  log: Log;
}

/** Several transactions in one request, each with its own outcome. */
export function batchRoutes(app: FastifyInstance, { transactions, keys, log }: BatchRouteParts): void {
  app.post('/transactions/batch', async (request, reply) => {
    const { requests } = parseBody(batchSchema, bodyOf(request));
    await app.countAs(requests.length, request, reply);
    const { id: requestId, keyId } = request;
    const outcomes = await sendBatch(requests, {
      transactions,
      keys,
      caller: { keyId, requestId, access: accessOf(request) },
      effect: effectOf(request),
      isGone: () => reply.raw.destroyed,
      onFault: (error) => log.error({ requestId, keyId, err: error }, 'a request of a batch failed'),
    });
    // If a retry may end differently, the answer is not stored under the batch's own key, so that a repeat tries again.
    request.isProvisional = outcomes.some(({ isProvisional }) => isProvisional);
    return success(outcomes.map(({ answer }) => answer));
  });
}
