import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ApiKeysService } from '../../services/settings/api-keys.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { accessOf, assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

/** The routes of API keys. The key itself is in the answer that creates it, and in no other. */
export function apiKeyRoutes(app: FastifyInstance, apiKeys: ApiKeysService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/api-keys', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await apiKeys.list(page), page);
  });

  routes.post('/api-keys', { config: { answersSecret: true } }, async (request, reply) =>
    reply.code(201).send(success(await apiKeys.create(bodyOf(request), callerOf(request), accessOf(request)))),
  );

  // No key has the id `current`: ids are UUIDs, and the environment's key is `default`.
  routes.get('/api-keys/current', async (request) => success(await apiKeys.current(request.keyId)));

  routes.get('/api-keys/:id', { schema: { params: idParams } }, async (request) =>
    success(await apiKeys.get(request.params.id)),
  );

  routes.get('/api-keys/:id/permissions', { schema: { params: idParams } }, async (request) =>
    success(await apiKeys.permissions(request.params.id)),
  );

  routes.patch('/api-keys/:id', { schema: { params: idParams } }, async (request) =>
    success(await apiKeys.update(request.params.id, bodyOf(request), callerOf(request), accessOf(request))),
  );

  routes.delete('/api-keys/:id', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await apiKeys.revoke(request.params.id, callerOf(request), accessOf(request));
    return success('API key deleted successfully');
  });
}
