import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RpcService } from '../../services/services.ts';
import { effectOf } from '../idempotency.ts';
import { bodyOf } from '../json-body.ts';

const params = z.object({ id: z.string() });

/** Passes JSON-RPC calls through to the relayer's network, one or a batch. The answer is bare JSON-RPC. */
export function rpcRoutes(app: FastifyInstance, rpc: RpcService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();
  routes.post('/relayers/:id/rpc', { schema: { params } }, async (request) => {
    const { id } = request.params;
    const [body, effect] = [bodyOf(request), effectOf(request)];
    const outcomes = Array.isArray(body) ? await rpc.batch(id, body, effect) : [await rpc.call(id, body, effect)];
    // A node that refused or did not answer may do better next time.
    request.isProvisional = outcomes.some(({ error }) => error !== undefined);
    return Array.isArray(body) ? outcomes : outcomes[0];
  });
}
