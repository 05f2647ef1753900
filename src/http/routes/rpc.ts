import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { AppError } from '../../domain/errors.ts';
import type { Access } from '../../domain/settings/access.ts';
import { rpcRights } from '../../services/rpc.ts';
import type { RpcService } from '../../services/services.ts';
import { effectOf } from '../idempotency.ts';
import { accessOf, actorOf, bodyOf, idParams, maySend } from '../request.ts';

/** Passes JSON-RPC calls through to the relayer's network, one or a batch. The answer is bare JSON-RPC. */
export function rpcRoutes(app: FastifyInstance, rpc: RpcService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();
  routes.post('/relayers/:id/rpc', { schema: { params: idParams } }, async (request, reply) => {
    const { id } = request.params;
    const [body, effect, by] = [bodyOf(request), effectOf(request), actorOf(request)];
    const maySpend = maySend(request, id);
    for (const call of Array.isArray(body) ? body : [body]) assertPermitted(call, id, accessOf(request));
    if (Array.isArray(body)) await app.countAs(body.length, request, reply);
    const outcomes = Array.isArray(body)
      ? await rpc.batch(id, body, effect, by, maySpend)
      : [await rpc.call(id, body, effect, undefined, by, maySpend)];
    // A retry may succeed where a node refused or did not answer.
    request.isProvisional = outcomes.some(({ error }) => error !== undefined);
    return Array.isArray(body) ? outcomes : outcomes[0];
  });
}

/** Checks the permissions for a call. One call without permission refuses the whole batch. */
function assertPermitted(call: unknown, id: string, access: Access): void {
  const action = rpcRights(call).find((right) => !access.may({ resource: 'relayers', action: right }, id));
  if (action !== undefined) throw new AppError('NOT_PERMITTED', { deed: action, resource: `relayers:${id}` });
}
