import { z } from 'zod';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import type { ChainDescription } from '../description.ts';
import { unsentRequestSchema } from './form/sign-only.ts';
import { requestSchema } from './request.ts';
import { sponsoredSchema } from './sponsor/form.ts';

const moment = z.string().meta({ description: 'RFC 3339' });

const transactionSchema = z.object({
  id: z.string(),
  hash: z.string().nullable().meta({ description: 'Hexadecimal; the name of the transaction on the chain' }),
  status: transactionStatusSchema,
  status_reason: z.string().nullable(),
  created_at: moment,
  sent_at: moment.nullable(),
  confirmed_at: moment.nullable(),
  source_account: z.string(),
  fee: z.int().meta({ description: 'In stroops: what is bid, and in the end what was charged' }),
  sequence_number: z.string().meta({ description: '0 until it has one' }),
  relayer_id: z.string(),
  transaction_result_xdr: z
    .string()
    .optional()
    .meta({ description: 'What a contract’s function gave back, in base64; absent where there is none' }),
});

/** Further fields, for calls of contracts only. */
const most = {
  max_fee_in_token: z.string().optional().meta({ description: 'Of a call of a contract: what the user consents to' }),
  max_fee_in_token_ui: z.string().optional(),
};

/** What the description of the API says of Stellar networks. */
export const description: ChainDescription = {
  name: 'Stellar',
  refusals: {
    message: 'Signing data not supported for Stellar',
    typedData: 'Signing typed data not supported for Stellar',
  },
  policies: { fee_payment_strategy: 'relayer', max_fee: 100_000 },
  request: {
    schema: requestSchema,
    example: {
      network: 'testnet',
      operations: [
        {
          type: 'payment',
          destination: 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR',
          amount: '10000000',
          asset: { type: 'native' },
        },
      ],
    },
  },
  transaction: transactionSchema,
  sponsorship: {
    schema: sponsoredSchema,
    example: { transaction_xdr: 'AAAAAgAAAAB…', fee_token: 'native' },
    quote: z.object({
      fee_in_token: z.string().meta({ description: 'In the smallest unit of the token' }),
      fee_in_token_ui: z.string().meta({ description: 'In whole units' }),
      conversion_rate: z.string().meta({ description: 'How much of its smallest unit a stroop is worth' }),
      ...most,
    }),
    built: z.object({
      transaction: z.string().meta({
        description: 'Base64 of the envelope: with the payment in it, for the user to sign, or of the relayer’s',
      }),
      fee_in_token: z.string(),
      fee_in_token_ui: z.string(),
      fee_in_stroops: z.string(),
      fee_token: z.string(),
      valid_until: moment,
      user_auth_entry: z.string().optional().meta({
        description: 'Of a call of a contract: base64 of the SorobanAuthorizationEntry that the user signs instead',
      }),
      ...most,
    }),
  },
  signing: {
    transaction: {
      schema: unsentRequestSchema,
      example: { unsigned_xdr: 'AAAAAgAAAAB…' },
      text:
        'Stellar: a transaction that somebody else sends, under the relayer’s policies. In one of another account the ' +
        'signature stands for no operation of the relayer’s own.',
      answer: z.object({
        signedXdr: z.string().meta({ description: 'Base64 of the envelope, with the signatures that it had' }),
        signature: z.string().meta({ description: 'The relayer’s own: base64 of 64 bytes' }),
      }),
    },
  },
};
