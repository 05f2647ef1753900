import { z } from 'zod';
import type { BodyDescription } from '../../chains/chain.ts';
import { MAX_RPC_CALLS } from '../../services/rpc.ts';
import { envelope, rpcAnswerSchema } from './answers.ts';
import { ACTING, BODY, type ChainBodies, found, OF_RELAYER, type Operation } from './operation.ts';

const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0').optional(),
  method: z.string().min(1),
  params: z.unknown().optional(),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
});

const common = {
  tag: 'Signing',
  errors: [...BODY, ...OF_RELAYER, ...ACTING, 'SIGNER_FAILED', 'NOT_SUPPORTED'],
} as const satisfies Partial<Operation>;

/** The operations that sign without sending, and those that pass calls on to a node. */
export function signingOperations(bodies: ChainBodies): Readonly<Record<string, Operation>> {
  const { message, typedData, unsent, methods } = bodies;
  return {
    ...sponsoredOperations(bodies),
    'POST /api/v1/relayers/:id/sign': {
      ...common,
      id: 'signMessage',
      summary: 'Sign a text',
      description: `${message.text} Network types without such messages are refused with 400.`,
      body: { schema: z.strictObject({ message: z.string() }), required: true, example: { message: 'Hello' } },
      answer: found('The signature', envelope(message.answer)),
    },
    'POST /api/v1/relayers/:id/sign-typed-data': {
      ...common,
      id: 'signTypedData',
      summary: 'Sign typed data',
      description: `${typedData.text} Network types without typed data are refused with 400.`,
      body: { ...bodyOf(typedData), required: true },
      answer: found('The signature', envelope(typedData.answer)),
    },
    'POST /api/v1/relayers/:id/sign-transaction': {
      ...common,
      id: 'signTransaction',
      summary: 'Sign a transaction without sending it',
      description: unsent.text,
      body: { ...bodyOf(unsent), required: true },
      answer: found('The signature; its fields depend on the network type', envelope(unsent.answer)),
      errors: [...common.errors, 'NOT_AVAILABLE_YET'],
    },
    'POST /api/v1/relayers/:id/rpc': {
      id: 'callRpc',
      tag: 'Signing',
      summary: 'Pass a JSON-RPC call, or a batch of up to 1000 calls, to a node',
      description: methods,
      body: {
        schema: z.union([rpcCall, z.array(rpcCall).min(1).max(MAX_RPC_CALLS)]),
        required: true,
        example: { jsonrpc: '2.0', method: 'eth_blockNumber', params: [], id: 1 },
      },
      answer: found(
        'The JSON-RPC response without the usual envelope, or a list of them; also for errors of the node',
        rpcAnswerSchema,
      ),
      errors: ['EFFECT_UNKNOWN', ...BODY, ...OF_RELAYER, ...ACTING, 'NOT_AVAILABLE_YET'],
    },
  };
}

/** The operations on transactions whose network fee the relayer pays. */
function sponsoredOperations({ sponsorship }: ChainBodies): Record<string, Operation> {
  const body = { ...bodyOf(sponsorship), required: true };
  const errors = [...BODY, ...OF_RELAYER, ...ACTING, 'PROVIDER_FAILED', 'UNAVAILABLE'] as const;
  return {
    'POST /api/v1/relayers/:id/transactions/sponsored/quote': {
      id: 'quoteSponsoredTransaction',
      tag: 'Signing',
      summary: 'Get the price that a user pays for a transaction whose network fee the relayer pays',
      body,
      answer: found('The price; nothing is stored, and the price may change later', envelope(sponsorship.quote)),
      errors,
    },
    'POST /api/v1/relayers/:id/transactions/sponsored/build': {
      id: 'buildSponsoredTransaction',
      tag: 'Signing',
      summary: 'Build a transaction whose network fee the relayer pays and that pays the relayer back',
      description:
        'The built transaction costs the price in this response, whenever it is sent. On Solana the relayer has ' +
        'already signed it. The user signs it, and then sends it or has the relayer send it.',
      body,
      answer: found('The transaction for the user to sign', envelope(sponsorship.built)),
      errors: [...errors, 'SIGNER_FAILED'],
    },
  };
}

function bodyOf({ schema, example }: BodyDescription): BodyDescription {
  return { schema, example };
}
