import { z } from 'zod';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import type { ChainDescription } from '../description.ts';
import { requestSchema } from './request.ts';

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
});

/** What the description of the API says of Stellar networks. */
export const description: ChainDescription = {
  name: 'Stellar',
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
  signing: {},
};
