import { z } from 'zod';
import { transactionStatusSchema } from '../../features/transactions/records/transaction-state.ts';
import type { ChainDescription } from '../chain.ts';
import { signOnlyRequestSchema } from './form/sign-only.ts';
import { typedDataSchema } from './form/typed-data.ts';
import { sendRequestSchema } from './request.ts';

const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

const moment = z.string().meta({ description: 'Date and time (RFC 3339)' });
const decimal = z.string().nullable().meta({ description: 'In wei per unit of gas, as decimal digits' });
const amount = z.number().meta({ type: 'integer', description: 'Integer with all its digits, even beyond 2^53' });
const wei = z.string().meta({ description: 'In wei, hexadecimal with 0x' });

/** Without `0x`. */
const signatureSchema = z.object({
  r: z.string(),
  s: z.string(),
  v: z.int(),
  sig: z.string().meta({ description: 'r, s and v together, in hexadecimal' }),
});

const accessListSchema = z.array(z.object({ address: z.string(), storage_keys: z.array(z.string()) }));

const authorizationListSchema = z.array(
  z.object({
    chain_id: z.union([z.int(), z.string()]),
    address: z.string(),
    nonce: z.union([z.int(), z.string()]),
    y_parity: z.int(),
    r: z.string(),
    s: z.string(),
  }),
);

const transactionSchema = z.object({
  id: z.string(),
  hash: z.string().nullable(),
  status: transactionStatusSchema,
  status_reason: z.string().nullable(),
  created_at: moment,
  sent_at: moment.nullable(),
  confirmed_at: moment.nullable(),
  gas_price: decimal,
  gas_limit: amount.nullable(),
  nonce: amount.nullable(),
  value: wei,
  from: z.string(),
  to: z.string().nullable(),
  relayer_id: z.string(),
  data: z.string().nullable(),
  max_fee_per_gas: decimal,
  max_priority_fee_per_gas: decimal,
  signature: signatureSchema.nullable(),
  speed: z.enum(['fastest', 'fast', 'average', 'safeLow']).nullable(),
  is_canceled: z.boolean().nullable(),
  contract_address: z.string().nullable().optional().meta({
    description: 'Only for contract creations: address of the contract; null without a nonce or a created contract',
  }),
  access_list: accessListSchema.optional().meta({ description: 'Access list of the request (EIP-2930)' }),
  authorization_list: authorizationListSchema.optional().meta({
    description: 'Authorization list of the request (EIP-7702)',
  }),
});

const signedTransactionSchema = z.object({
  hash: z.string(),
  transaction: z.string().meta({ description: 'Signed transaction, hexadecimal with 0x' }),
  signature: signatureSchema,
  chain_id: amount,
  nonce: amount,
  from: z.string(),
  to: z.string().nullable(),
  value: wei,
  data: z.string().nullable(),
  gas_limit: amount,
  gas_price: decimal,
  max_fee_per_gas: decimal,
  max_priority_fee_per_gas: decimal,
});

/** What the description of the API says of EVM networks. */
export const apiDescription: ChainDescription = {
  name: 'Evm',
  refusals: { sponsorship: 'Gas abstraction not supported for EVM relayers' },
  policies: { gas_price_cap: 100_000_000_000 },
  request: { schema: sendRequestSchema, example: { to: TO, value: 1, speed: 'fast' } },
  transaction: transactionSchema,
  signing: {
    message: {
      text:
        'EVM: signs the UTF-8 bytes of the text as a personal message (EIP-191). A text that begins with `0x` is not ' +
        'decoded. v is 27 or 28.',
      answer: signatureSchema,
    },
    typedData: {
      schema: typedDataSchema,
      example: { domain_separator: `0x${'11'.repeat(32)}`, hash_struct_message: `0x${'22'.repeat(32)}` },
      text:
        'EVM: signs EIP-712 data. The body has the domain separator and the hash of the message, or the whole data ' +
        'in the form of `eth_signTypedData_v4`. v is 27 or 28.',
      answer: signatureSchema,
    },
    transaction: {
      schema: signOnlyRequestSchema,
      example: { to: TO, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 },
      text:
        'EVM: takes the body of a send request with `nonce`, `gas_limit` and a price: `gas_price`, or ' +
        '`max_fee_per_gas` and `max_priority_fee_per_gas`. `speed` is refused, because no node is asked. The ' +
        'policies `whitelist_receivers` and `gas_price_cap` apply as for sending; `min_balance` is not checked. The ' +
        'relayer neither sends nor stores the transaction. A `nonce` that the relayer itself has used or will use is ' +
        'the risk of the caller, because only one of the two transactions can be mined.',
      answer: signedTransactionSchema,
    },
  },
};
