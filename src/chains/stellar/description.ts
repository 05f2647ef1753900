import { z } from 'zod';
import type { ChainDescription } from '../chain.ts';
import { sendRequestSchema } from './request.ts';
import { signOnlyRequestSchema } from './sponsor/sign-only.ts';
import { sponsoredSchema } from './sponsor/user-draft.ts';
import { transactionAnswer } from './view.ts';

const moment = z.string().meta({ description: 'Date and time (RFC 3339)' });

/** Further fields, for calls of contracts only. */
const most = {
  max_fee_in_token: z.string().optional().meta({
    description: 'For a contract call: maximum fee that the user consents to',
  }),
  max_fee_in_token_ui: z.string().optional(),
};

/** What the description of the API says of Stellar networks. */
export const apiDescription: ChainDescription = {
  name: 'Stellar',
  refusals: {
    message: 'Signing data not supported for Stellar',
    typedData: 'Signing typed data not supported for Stellar',
  },
  policies: { fee_payment_strategy: 'relayer', max_fee: 100_000 },
  request: {
    schema: sendRequestSchema,
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
  transaction: transactionAnswer.schema,
  sponsorship: {
    schema: sponsoredSchema,
    example: { transaction_xdr: 'AAAAAgAAAAB…', fee_token: 'native' },
    quote: z.object({
      fee_in_token: z.string().meta({ description: 'Fee in the smallest unit of the token' }),
      fee_in_token_ui: z.string().meta({ description: 'Fee in whole units of the token' }),
      conversion_rate: z.string().meta({ description: 'Worth of one stroop, in the smallest unit of the token' }),
      ...most,
    }),
    built: z.object({
      transaction: z.string().meta({
        description: 'Envelope in base64: the user’s, with the payment; for a contract call, the relayer’s',
      }),
      fee_in_token: z.string(),
      fee_in_token_ui: z.string(),
      fee_in_stroops: z.string(),
      fee_token: z.string(),
      valid_until: moment,
      user_auth_entry: z.string().optional().meta({
        description: 'For a contract call: SorobanAuthorizationEntry in base64, which the user signs instead',
      }),
      ...most,
    }),
  },
  signing: {
    transaction: {
      schema: signOnlyRequestSchema,
      example: { unsigned_xdr: 'AAAAAgAAAAB…' },
      text:
        'Stellar: signs a transaction that somebody else sends. The policies of the relayer apply. In a transaction ' +
        'of another account the signature covers no operation of the relayer’s account.',
      answer: z.object({
        signedXdr: z.string().meta({ description: 'Signed envelope in base64, with its earlier signatures' }),
        signature: z.string().meta({ description: 'Signature of the relayer: 64 bytes in base64' }),
      }),
    },
  },
};
