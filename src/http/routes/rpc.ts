import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RpcService } from '../../services/services.ts';
import { effectOf } from '../idempotency.ts';
import { bodyOf } from '../json-body.ts';

const params = z.object({ id: z.string() });

/** Passes one JSON-RPC call through to the relayer's network. The answer is the bare JSON-RPC object. */
export function rpcRoutes(app: FastifyInstance, rpc: RpcService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();
  routes.post('/relayers/:id/rpc', { schema: { params } }, async (request) => {
    const outcome = await rpc.call(request.params.id, bodyOf(request), effectOf(request));
    // A node that refused or did not answer may do better next time.
    request.isProvisional = outcome.error !== undefined;
    return outcome;
  });
}
