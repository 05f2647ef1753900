import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import { rpcAnswerSchema } from '../../http/openapi/answers.ts';
import { ACTING, BODY, OF_RELAYER, one, operation, raw } from '../../http/operation.ts';
import type { Access } from '../api-keys/records/access.ts';
import { MAX_RPC_CALLS, rpcRights } from '../relayers/rpc.ts';

const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0').optional(),
  method: z.string().min(1),
  params: z.unknown().optional(),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
});

const tag = 'Signing';
const SIGNING = [...BODY, ...OF_RELAYER, ...ACTING, 'SIGNER_FAILED', 'NOT_SUPPORTED'] as const;
const SPONSORED = [...BODY, ...OF_RELAYER, ...ACTING, 'PROVIDER_FAILED', 'UNAVAILABLE'] as const;

/** Operations that sign without sending, and those that pass calls on to a node. */
export const signingOperations = [
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/sign',
    permission: 'relayers:sign',
    tag,
    id: 'signMessage',
    summary: 'Sign a text',
    description: ({ message }) => `${message.text} Network types without such messages are refused with 400.`,
    body: { schema: z.strictObject({ message: z.string() }), example: { message: 'Hello' } },
    answer: one('The signature', ({ message }) => message.answer),
    errors: SIGNING,
    handle: ({ params, body, by }, { services }) => services.signing.signMessage(params.id, body, by),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/sign-typed-data',
    permission: 'relayers:sign',
    tag,
    id: 'signTypedData',
    summary: 'Sign typed data',
    description: ({ typedData }) => `${typedData.text} Network types without typed data are refused with 400.`,
    body: ({ typedData }) => typedData,
    answer: one('The signature', ({ typedData }) => typedData.answer),
    errors: SIGNING,
    handle: ({ params, body, by }, { services }) => services.signing.signTypedData(params.id, body, by),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/sign-transaction',
    permission: 'relayers:sign',
    tag,
    id: 'signTransaction',
    summary: 'Sign a transaction without sending it',
    description: ({ unsent }) => unsent.text,
    body: ({ unsent }) => unsent,
    answer: one('The signature; its fields depend on the network type', ({ unsent }) => unsent.answer),
    errors: [...SIGNING, 'NOT_AVAILABLE_YET'],
    handle(call, { services }) {
      const { id } = call.params;
      return services.signing.signTransaction(id, call.body, { ...call.by, maySpend: call.maySend(id) });
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/transactions/sponsored/quote',
    permission: 'relayers:sign',
    id: 'quoteSponsoredTransaction',
    tag,
    summary: 'Get the price that a user pays for a transaction whose network fee the relayer pays',
    body: ({ sponsorship }) => sponsorship,
    answer: one('The price; nothing is stored, and the price may change later', ({ sponsorship }) => sponsorship.quote),
    errors: SPONSORED,
    handle: ({ params, body }, { services }) => services.signing.quoteSponsored(params.id, body),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/transactions/sponsored/build',
    permission: 'relayers:sign',
    id: 'buildSponsoredTransaction',
    tag,
    summary: 'Build a transaction whose network fee the relayer pays and that pays the relayer back',
    description:
      'The built transaction costs the price in this response, whenever it is sent. On Solana the relayer has ' +
      'already signed it. The user signs it, and then sends it or has the relayer send it.',
    body: ({ sponsorship }) => sponsorship,
    answer: one('The transaction for the user to sign', ({ sponsorship }) => sponsorship.built),
    errors: [...SPONSORED, 'SIGNER_FAILED'],
    handle: ({ params, body, by }, { services }) => services.signing.buildSponsored(params.id, body, by),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/rpc',
    permission: 'relayers:rpc',
    id: 'callRpc',
    tag,
    summary: 'Pass a JSON-RPC call, or a batch of up to 1000 calls, to a node',
    description: ({ methods }) => methods,
    body: {
      schema: z.union([rpcCall, z.array(rpcCall).min(1).max(MAX_RPC_CALLS)]),
      example: { jsonrpc: '2.0', method: 'eth_blockNumber', params: [], id: 1 },
    },
    answer: raw(
      'The JSON-RPC response without the usual envelope, or a list of them; also for errors of the node',
      rpcAnswerSchema,
    ),
    errors: ['EFFECT_UNKNOWN', ...BODY, ...OF_RELAYER, ...ACTING, 'NOT_AVAILABLE_YET'],
    async handle(call, { services: { rpc } }) {
      const {
        params: { id },
        body,
        access,
        request,
        reply,
      } = call;
      const by = { ...call.by, maySpend: call.maySend(id) };
      for (const one of Array.isArray(body) ? body : [body]) assertPermitted(one, id, access);
      if (Array.isArray(body)) await request.server.countAs(body.length, request, reply);
      const outcomes = Array.isArray(body) ? await rpc.batch(id, body, by) : [await rpc.call(id, body, by)];
      // A retry may succeed where a node refused or did not answer.
      request.isProvisional = outcomes.some(({ error }) => error !== undefined);
      return Array.isArray(body) ? outcomes : outcomes[0];
    },
  }),
];

/** Checks the permissions for a call. One call without permission refuses the whole batch. */
function assertPermitted(call: unknown, id: string, access: Access): void {
  const action = rpcRights(call).find((right) => !access.may({ resource: 'relayers', action: right }, id));
  if (action !== undefined) throw new AppError('NOT_PERMITTED', { deed: action, resource: `relayers:${id}` });
}
