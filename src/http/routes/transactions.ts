import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import type { TransactionsService } from '../../services/services.ts';
import { success, successPage } from '../envelope.ts';
import { effectOf } from '../idempotency.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { actorOf, bodyOf, idParams } from '../request.ts';

const one = z.object({ id: z.string(), transactionId: z.string() });
const listQuery = pageQuerySchema.extend({
  status: z
    .string('must be given once')
    .toLowerCase()
    .pipe(z.enum(transactionStatusSchema.options, `must be one of ${transactionStatusSchema.options.join(', ')}`))
    .meta({
      enum: transactionStatusSchema.options,
      description: 'Only transactions with this status, in any letter case',
    })
    .optional(),
});

/**
 * The routes of transactions. A transaction is visible only under its own relayer. `POST` answers after the transaction
 * is on disk.
 */
export function transactionRoutes(app: FastifyInstance, transactions: TransactionsService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.post('/relayers/:id/transactions', { schema: { params: idParams } }, async (request) =>
    success(
      await transactions.send(request.params.id, bodyOf(request), effectOf(request), undefined, actorOf(request)),
    ),
  );

  routes.get(
    '/relayers/:id/transactions',
    { schema: { params: idParams, querystring: listQuery } },
    async (request) => {
      const page = pageRequest(request.query);
      return successPage(await transactions.list(request.params.id, page, request.query.status), page);
    },
  );

  routes.get('/relayers/:id/transactions/:transactionId', { schema: { params: one } }, async (request) =>
    success(await transactions.get(request.params.id, request.params.transactionId)),
  );
}
