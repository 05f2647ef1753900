import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RelayersService } from '../../services/services.ts';
import { accessOf, callerOf } from '../caller.ts';
import { success, successPage } from '../envelope.ts';
import { assertNoBody, bodyOf } from '../json-body.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';

const params = z.object({ id: z.string() });

/** What relayers there are, how each one stands, and what of it clients may change. */
export function relayerRoutes(app: FastifyInstance, relayers: RelayersService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/relayers', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await relayers.list(page, accessOf(request).idsOf('relayers')), page);
  });

  routes.post('/relayers', async (request, reply) =>
    reply.code(201).send(success(await relayers.create(bodyOf(request), callerOf(request)))),
  );

  routes.delete('/relayers/:id', { schema: { params } }, async (request) => {
    assertNoBody(request);
    await relayers.remove(request.params.id, callerOf(request));
    return success('Relayer deleted successfully');
  });

  routes.get('/relayers/:id', { schema: { params } }, async (request) =>
    success(await relayers.get(request.params.id)),
  );

  routes.patch('/relayers/:id', { schema: { params } }, async (request) =>
    success(await relayers.update(request.params.id, bodyOf(request), callerOf(request))),
  );

  routes.get('/relayers/:id/status', { schema: { params } }, async (request) =>
    success(await relayers.status(request.params.id)),
  );

  routes.get('/relayers/:id/balance', { schema: { params } }, async (request) =>
    success(await relayers.balance(request.params.id)),
  );
}
