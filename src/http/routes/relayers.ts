import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { didYouMean } from '../../domain/json/issue-text.ts';
import { RELAYER_STATES, type RelayerState } from '../../domain/relayer/relayer.ts';
import type { RelayersService } from '../../services/services.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { accessOf, assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

const MAX_SEARCH = 256;
const ANY_STATE = `(${RELAYER_STATES.join('|')})`;

const listQuery = pageQuerySchema.extend({
  search: z
    .string('must be given once')
    .trim()
    .max(MAX_SEARCH, `must have at most ${MAX_SEARCH} characters`)
    .optional()
    .meta({ description: 'Only relayers with this text in their id, name, address or network, in any letter case' }),
  state: z
    .string('must be given once')
    .transform(statesOf)
    .optional()
    .meta({
      type: 'string',
      pattern: `^${ANY_STATE}(,${ANY_STATE})*$`,
      description: `Only relayers in one of these states, separated by commas: ${RELAYER_STATES.join(', ')}`,
    }),
});

function statesOf(text: string, context: z.core.$RefinementCtx): RelayerState[] {
  const states = text.split(',').map((one) => one.trim().toLowerCase());
  const unknown = states.find((state) => !isState(state));
  if (unknown === undefined) return states.filter(isState);
  const hint = didYouMean(unknown, RELAYER_STATES) ?? `There are ${RELAYER_STATES.join(', ')}`;
  context.addIssue(`${JSON.stringify(unknown)} is not a state. ${hint}`);
  return z.NEVER;
}

function isState(text: string): text is RelayerState {
  return (RELAYER_STATES as readonly string[]).includes(text);
}

/** Routes that show relayers and their state, and create, change and delete them. */
export function relayerRoutes(app: FastifyInstance, relayers: RelayersService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/relayers', { schema: { querystring: listQuery } }, async (request) => {
    const page = pageRequest(request.query);
    const { search, state: states } = request.query;
    const filter = { among: accessOf(request).idsOf('relayers'), states, search: search === '' ? undefined : search };
    const isAll = Object.values(filter).every((one) => one === undefined);
    return successPage(await relayers.list(page, isAll ? undefined : filter), page);
  });

  routes.post('/relayers', async (request, reply) =>
    reply.code(201).send(success(await relayers.create(bodyOf(request), callerOf(request)))),
  );

  routes.delete('/relayers/:id', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await relayers.remove(request.params.id, callerOf(request));
    return success('Relayer deleted successfully');
  });

  routes.get('/relayers/:id', { schema: { params: idParams } }, async (request) =>
    success(await relayers.get(request.params.id)),
  );

  routes.patch('/relayers/:id', { schema: { params: idParams } }, async (request) =>
    success(await relayers.update(request.params.id, bodyOf(request), callerOf(request))),
  );

  routes.get('/relayers/:id/status', { schema: { params: idParams } }, async (request) =>
    success(await relayers.status(request.params.id)),
  );

  routes.get('/relayers/:id/balance', { schema: { params: idParams } }, async (request) =>
    success(await relayers.balance(request.params.id)),
  );
}
