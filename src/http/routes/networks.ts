import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { NetworksService } from '../../services/settings/networks.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

/** The routes of networks. No answer contains an endpoint's credentials. */
export function networkRoutes(app: FastifyInstance, networks: NetworksService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/networks', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await networks.list(page), page);
  });

  routes.post('/networks', async (request, reply) =>
    reply.code(201).send(success(await networks.create(bodyOf(request), callerOf(request)))),
  );

  routes.get('/networks/:id', { schema: { params: idParams } }, async (request) =>
    success(await networks.get(request.params.id)),
  );

  routes.patch('/networks/:id', { schema: { params: idParams } }, async (request) =>
    success(await networks.update(request.params.id, bodyOf(request), callerOf(request))),
  );

  routes.delete('/networks/:id', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await networks.remove(request.params.id, callerOf(request));
    return success('Network deleted successfully');
  });
}
