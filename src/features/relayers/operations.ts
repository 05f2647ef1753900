import { z } from 'zod';
import { didYouMean } from '../../domain/json/issue-text.ts';
import { BODY, created, OF_RELAYER, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';
import { RELAYER_STATES, type RelayerState } from './records/relayer.ts';
import { relayerUpdateSchema } from './relayer-update.ts';

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

const tag = 'Relayers';
const READ = ['INVALID_REQUEST'] as const;
const ON_NETWORK = ['RELAYER_NOT_FOUND', 'PROVIDER_FAILED', 'NOT_AVAILABLE_YET'] as const;

/** Relayers and their state. */
export const relayerOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/relayers',
    query: listQuery,
    permission: 'relayers:read',
    isList: true,
    id: 'listRelayers',
    tag,
    summary: 'List relayers',
    answer: page('Relayers, newest first', ({ answers }) => answers.relayer),
    errors: READ,
    handle({ page, query, access }, { services }) {
      const { search, state: states } = query;
      const filter = { among: access.idsOf('relayers'), states, search: search === '' ? undefined : search };
      const isAll = Object.values(filter).every((one) => one === undefined);
      return services.relayers.list(page, isAll ? undefined : filter);
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers',
    permission: 'relayers:write',
    id: 'createRelayer',
    tag,
    summary: 'Create a relayer',
    description:
      'The relayer uses the account of its signer. A signer can have only one relayer on each network. The service ' +
      'checks the relayer at once, and it works as soon as the checks have passed. The request also needs the ' +
      'permissions `signers:write` and `networks:read`, and with a notification `notifications:read`.',
    body: ({ relayer }) => relayer,
    answer: created('The created relayer', ({ answers }) => answers.relayer),
    errors: [
      ...BODY,
      'SIGNER_NOT_FOUND',
      'NOTIFICATION_NOT_FOUND',
      'RELAYER_EXISTS',
      'RELAYER_ID_KEPT',
      'SIGNER_FAILED',
      'SIGNER_UNUSABLE',
    ],
    handle: (call, { services }) => services.relayers.create(call.body, call.caller),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/relayers/:id',
    permission: 'relayers:write',
    id: 'deleteRelayer',
    tag,
    summary: 'Delete a relayer that has no transactions under way',
    description: 'A relayer that the configuration declares is back after the next start.',
    answer: one('Deleted', z.string()),
    errors: [...OF_RELAYER, 'RELAYER_BUSY'],
    async handle(call, { services }) {
      await services.relayers.remove(call.params.id, call.caller);
      return 'Relayer deleted successfully';
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id',
    permission: 'relayers:read',
    id: 'getRelayer',
    tag,
    summary: 'Get a relayer',
    answer: one('The relayer', ({ answers }) => answers.relayer),
    errors: OF_RELAYER,
    handle: (call, { services }) => services.relayers.get(call.params.id),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/relayers/:id',
    permission: 'relayers:write',
    id: 'updateRelayer',
    tag,
    summary: 'Update a relayer',
    description:
      'Absent fields do not change. Null removes a field, but a `name` of null does not change the name. Null ' +
      'inside `policies` unsets that policy. Policies are checked against the network type of the relayer. Naming ' +
      'a notification needs the permission `notifications:read`.',
    body: ({ policies }) => ({
      schema: relayerUpdateSchema.extend({ policies: policies.schema.nullish() }),
      example: { paused: false, policies: policies.example },
    }),
    answer: one('The relayer after the change', ({ answers }) => answers.relayer),
    errors: [...BODY, ...OF_RELAYER, 'NOTIFICATION_NOT_FOUND'],
    handle: (call, { services }) => services.relayers.update(call.params.id, call.body, call.caller),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/status',
    permission: 'relayers:read',
    id: 'getRelayerStatus',
    tag,
    summary: 'Get the status of a relayer',
    answer: one('Current status, read from the network', ({ answers }) => answers.status),
    errors: ON_NETWORK,
    handle: (call, { services }) => services.relayers.status(call.params.id),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/balance',
    permission: 'relayers:read',
    id: 'getRelayerBalance',
    tag,
    summary: 'Get the balance of a relayer',
    answer: one('Current balance, read from the network', ({ answers }) => answers.balance),
    errors: ON_NETWORK,
    handle: (call, { services }) => services.relayers.balance(call.params.id),
  }),
];
