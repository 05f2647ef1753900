import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { SignersService } from '../../services/settings/signers.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

/** The routes of signers. No answer contains a secret. */
export function signerRoutes(app: FastifyInstance, signers: SignersService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/signers', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await signers.list(page), page);
  });

  routes.post('/signers', async (request, reply) =>
    reply.code(201).send(success(await signers.create(bodyOf(request), callerOf(request)))),
  );

  routes.get('/signers/:id', { schema: { params: idParams } }, async (request) =>
    success(await signers.get(request.params.id)),
  );

  routes.patch('/signers/:id', { schema: { params: idParams } }, async (request) => signers.update(request.params.id));

  routes.delete('/signers/:id', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await signers.remove(request.params.id, callerOf(request));
    return success('Signer deleted successfully');
  });
}
