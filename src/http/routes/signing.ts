import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { SigningService } from '../../services/services.ts';
import { success } from '../envelope.ts';
import { effectOf } from '../idempotency.ts';
import { actorOf, bodyOf, idParams, maySend } from '../request.ts';

/** Routes that sign without sending. */
export function signingRoutes(app: FastifyInstance, signing: SigningService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.post('/relayers/:id/sign', { schema: { params: idParams } }, async (request) =>
    success(await signing.signMessage(request.params.id, bodyOf(request), effectOf(request), actorOf(request))),
  );

  routes.post('/relayers/:id/sign-typed-data', { schema: { params: idParams } }, async (request) =>
    success(await signing.signTypedData(request.params.id, bodyOf(request), effectOf(request), actorOf(request))),
  );

  routes.post('/relayers/:id/sign-transaction', { schema: { params: idParams } }, async (request) =>
    success(
      await signing.signTransaction(
        request.params.id,
        bodyOf(request),
        effectOf(request),
        actorOf(request),
        maySend(request, request.params.id),
      ),
    ),
  );

  routes.post('/relayers/:id/transactions/sponsored/quote', { schema: { params: idParams } }, async (request) =>
    success(await signing.quoteSponsored(request.params.id, bodyOf(request))),
  );

  routes.post('/relayers/:id/transactions/sponsored/build', { schema: { params: idParams } }, async (request) =>
    success(await signing.buildSponsored(request.params.id, bodyOf(request), effectOf(request), actorOf(request))),
  );
}
