import { z } from 'zod';
import { envelope, evmSignatureSchema, rpcAnswerSchema, signedTransactionSchema } from './answers.ts';
import { ACTING, BODY, type ChainBodies, found, OF_RELAYER, type Operation } from './operation.ts';

const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0').optional(),
  method: z.string(),
  params: z.unknown().optional(),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
});

const common = {
  tag: 'Signing',
  errors: [...BODY, ...OF_RELAYER, ...ACTING, 'SIGNER_FAILED', 'NOT_SUPPORTED'],
} as const satisfies Partial<Operation>;

/** What a relayer signs without sending it, and what it passes on. */
export function signingOperations({ typedData, unsent }: ChainBodies): Readonly<Record<string, Operation>> {
  return {
    'POST /api/v1/relayers/:id/sign': {
      ...common,
      id: 'signMessage',
      summary: 'Sign a text',
      description:
        'EVM: a personal message (EIP-191) over the UTF-8 bytes of the text; `0x` has no meaning in it. The families ' +
        'without such messages answer 400.',
      body: { schema: z.looseObject({ message: z.string() }), required: true, example: { message: 'Hello' } },
      answer: found('The signature; v is 27 or 28', envelope(evmSignatureSchema)),
    },
    'POST /api/v1/relayers/:id/sign-typed-data': {
      ...common,
      id: 'signTypedData',
      summary: 'Sign typed data',
      description:
        'EVM: EIP-712, given as the domain separator and the hash of the message, or as a whole in the form of ' +
        '`eth_signTypedData_v4`. The families without typed data answer 400.',
      body: {
        schema: typedData,
        required: true,
        example: { domain_separator: `0x${'11'.repeat(32)}`, hash_struct_message: `0x${'22'.repeat(32)}` },
      },
      answer: found('The signature; v is 27 or 28', envelope(evmSignatureSchema)),
    },
    'POST /api/v1/relayers/:id/sign-transaction': {
      ...common,
      id: 'signTransaction',
      summary: 'Sign a transaction that is not sent',
      description:
        'EVM: the body of a send request with `nonce`, `gas_limit` and a price (`gas_price`, or the two of EIP-1559; ' +
        '`speed` is refused, for no node is asked). The policies `whitelist_receivers` and `gas_price_cap` hold as they do ' +
        'for sending; `min_balance` is not looked at. The relayer neither sends the transaction nor remembers it: a `nonce` ' +
        'that the relayer itself has used, or will use for what it sends, is the risk of the caller, because only one of ' +
        'the two transactions can be mined.',
      body: {
        schema: unsent,
        required: true,
        example: { to: TO, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 },
      },
      answer: found('The signature, in the form of the network type', envelope(signedTransactionSchema)),
      errors: [...common.errors, 'NOT_AVAILABLE_YET'],
    },
    'POST /api/v1/relayers/:id/rpc': {
      id: 'callRpc',
      tag: 'Signing',
      summary: 'Pass a JSON-RPC call, or a batch of up to 1000, through to a node',
      body: {
        schema: z.union([rpcCall, z.array(rpcCall)]),
        required: true,
        example: { jsonrpc: '2.0', method: 'eth_blockNumber', params: [], id: 1 },
      },
      answer: found('The bare JSON-RPC answer, or a list of them; a refusal of the node is one too', rpcAnswerSchema),
      errors: ['EFFECT_UNKNOWN', ...BODY, ...OF_RELAYER, ...ACTING, 'NOT_AVAILABLE_YET'],
    },
  };
}
