import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { DeliveriesService } from '../../services/webhooks/deliveries.ts';
import type { PlaceCursors } from '../cursors.ts';
import { success, successPart } from '../envelope.ts';
import { partRequest, sealedPartQuerySchema } from '../paging.ts';
import { accessOf, assertNoBody, callerOf, idParams } from '../request.ts';

const params = z.object({ id: z.string(), deliveryId: z.string() });
const query = sealedPartQuerySchema.extend({
  state: z
    .enum(['waiting', 'delivered', 'dead', 'dropped'])
    .optional()
    .meta({ description: 'Only deliveries in this state; a page may then be shorter than `per_page`' }),
  transaction_id: z.string().optional().meta({ description: 'Only deliveries of events of this transaction' }),
});

/** The deliveries of a webhook: listing them, and sending one again. */
export function deliveryRoutes(app: FastifyInstance, deliveries: DeliveriesService, cursors: PlaceCursors): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/notifications/:id/deliveries', { schema: { params: idParams, querystring: query } }, async (request) => {
    const { cursor, per_page, state, transaction_id: transactionId } = request.query;
    const part = partRequest({ per_page, cursor: cursor === undefined ? undefined : cursors.placeOf(cursor) });
    const found = await deliveries.list(request.params.id, part, { state, transactionId }, accessOf(request));
    return successPart(found, part, cursors.cursorOf);
  });

  routes.get('/notifications/:id/deliveries/:deliveryId', { schema: { params } }, async (request) =>
    success(await deliveries.get(request.params.id, request.params.deliveryId, accessOf(request))),
  );

  routes.post('/notifications/:id/deliveries/:deliveryId/redeliver', { schema: { params } }, async (request) => {
    assertNoBody(request);
    const { id, deliveryId } = request.params;
    return success(await deliveries.redeliver(id, deliveryId, callerOf(request), accessOf(request)));
  });
}
