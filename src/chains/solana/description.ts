import { z } from 'zod';
import type { ChainDescription } from '../chain.ts';
import { MEMO_PROGRAMS } from './programs.ts';
import { sendRequestSchema, signOnlyRequestSchema } from './request.ts';
import { sponsoredSchema } from './sponsor/methods.ts';
import { transactionAnswer } from './view.ts';

/** What the description of the API says of Solana networks. */
export const apiDescription: ChainDescription = {
  name: 'Solana',
  refusals: { typedData: 'Endpoint is not supported for Solana relayers' },
  policies: { fee_payment_strategy: 'relayer', max_signatures: 2 },
  request: {
    schema: sendRequestSchema,
    example: {
      instructions: [
        { program_id: MEMO_PROGRAMS[0] ?? '', accounts: [], data: Buffer.from('hello').toString('base64') },
      ],
    },
  },
  transaction: transactionAnswer.schema,
  signing: {
    message: {
      text:
        'Solana: signs the text as an off-chain message of version 0 with an application domain of zeros, so that no ' +
        'text can be taken for a transaction. The signature is in base58.',
      answer: z.object({ signature: z.string(), public_key: z.string() }),
    },
    transaction: {
      schema: signOnlyRequestSchema,
      example: { transaction: 'AQAB…' },
      text:
        'Solana: signs a transaction that the relayer pays for, or, with fee_payment_strategy relayer, one that ' +
        'somebody else pays for. The same policies apply as for sending. Others may sign after the relayer. What the ' +
        'relayer holds is spent only where the caller may send, too.',
      answer: z.object({
        transaction: z.string().meta({ description: 'Signed transaction in base64' }),
        signature: z.string().meta({ description: 'Signature of the relayer, in base58' }),
      }),
    },
  },
  sponsorship: {
    schema: sponsoredSchema,
    example: { transaction: 'AQAB…', fee_token: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
    quote: z.object({
      estimated_fee: z.string().meta({ description: 'Fee in whole units of the token' }),
      conversion_rate: z.string().meta({ description: 'Units of the token for one SOL' }),
    }),
    built: z.object({
      transaction: z.string().meta({ description: 'Transaction in base64' }),
      fee_in_spl: z.string().meta({ description: 'Fee in the smallest unit of the token' }),
      fee_in_lamports: z.string(),
      fee_token: z.string(),
      valid_until_blockheight: z.int().nullable().meta({
        description: 'Last valid block height; null with a durable nonce',
      }),
    }),
  },
  methods:
    'Solana: feeEstimate, prepareTransaction, transferTransaction, signTransaction, signAndSendTransaction, ' +
    'getSupportedTokens and getFeaturesEnabled are answered by the relayer; their params are objects, and their results ' +
    'have the method’s name as `method`.',
};
