import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { LifecycleService } from '../../services/services.ts';
import { success } from '../envelope.ts';
import { effectOf } from '../idempotency.ts';
import { actorOf, assertNoBody, bodyOf, idParams } from '../request.ts';

const MAX_NONCE = 2n ** 64n - 1n;

const one = z.object({ id: z.string(), transactionId: z.string() });
const byHash = z.object({ id: z.string(), hash: z.string() });
const byNonce = z.object({
  id: z.string(),
  nonce: z
    .string()
    .refine((text) => /^\d{1,20}$/.test(text) && BigInt(text) <= MAX_NONCE, {
      error: `must be an integer from 0 to ${MAX_NONCE}`,
    })
    .meta({ pattern: '^\\d{1,20}$', description: `At most ${MAX_NONCE}` }),
});

/** Routes for accepted transactions: replace, cancel, find by nonce or hash, and show the timeline. */
export function lifecycleRoutes(app: FastifyInstance, lifecycle: LifecycleService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.put('/relayers/:id/transactions/:transactionId', { schema: { params: one } }, async (request) =>
    success(
      await lifecycle.replace(
        request.params.id,
        request.params.transactionId,
        bodyOf(request),
        effectOf(request),
        actorOf(request),
      ),
    ),
  );

  routes.delete('/relayers/:id/transactions/:transactionId', { schema: { params: one } }, async (request) => {
    assertNoBody(request);
    return success(
      await lifecycle.cancel(request.params.id, request.params.transactionId, effectOf(request), actorOf(request)),
    );
  });

  routes.delete('/relayers/:id/transactions/pending', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    return success(await lifecycle.cancelPending(request.params.id, actorOf(request)));
  });

  routes.get('/relayers/:id/transactions/by-nonce/:nonce', { schema: { params: byNonce } }, async (request) =>
    success(await lifecycle.bySequence(request.params.id, BigInt(request.params.nonce))),
  );

  routes.get('/relayers/:id/transactions/by-hash/:hash', { schema: { params: byHash } }, async (request) =>
    success(await lifecycle.byHash(request.params.id, request.params.hash)),
  );

  routes.get('/relayers/:id/transactions/:transactionId/timeline', { schema: { params: one } }, async (request) =>
    success(await lifecycle.timeline(request.params.id, request.params.transactionId)),
  );
}
