import { z } from 'zod';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import type { ChainDescription } from '../description.ts';
import { unsentRequestSchema } from './form/sign-only.ts';
import { typedDataSchema } from './form/typed-data.ts';
import { requestSchema } from './request.ts';

const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

const moment = z.string().meta({ description: 'RFC 3339' });
const decimal = z.string().nullable().meta({ description: 'Decimal digits' });
const amount = z.number().meta({ type: 'integer', description: 'Has all its digits, also beyond 2^53' });
const wei = z.string().meta({ description: 'In wei, 0x and hexadecimal' });

/** Without `0x`. */
const signatureSchema = z.object({
  r: z.string(),
  s: z.string(),
  v: z.int(),
  sig: z.string().meta({ description: 'The other three in one' }),
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
    description: 'Where a contract is made: its address, null before there is a nonce and where none was made',
  }),
  access_list: accessListSchema.optional().meta({ description: 'Where one was given' }),
  authorization_list: authorizationListSchema.optional().meta({ description: 'Where one was given' }),
});

const signedTransactionSchema = z.object({
  hash: z.string(),
  transaction: z.string().meta({ description: 'The signed bytes, 0x and hexadecimal' }),
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
export const description: ChainDescription = {
  name: 'Evm',
  refusals: { sponsorship: 'Gas abstraction not supported for EVM relayers' },
  policies: { gas_price_cap: 100_000_000_000 },
  request: { schema: requestSchema, example: { to: TO, value: 1, speed: 'fast' } },
  transaction: transactionSchema,
  signing: {
    message: {
      text: 'EVM: a personal message (EIP-191) over the UTF-8 bytes of the text; `0x` has no meaning in it. v is 27 or 28.',
      answer: signatureSchema,
    },
    typedData: {
      schema: typedDataSchema,
      example: { domain_separator: `0x${'11'.repeat(32)}`, hash_struct_message: `0x${'22'.repeat(32)}` },
      text:
        'EVM: EIP-712, given as the domain separator and the hash of the message, or as a whole in the form of ' +
        '`eth_signTypedData_v4`. v is 27 or 28.',
      answer: signatureSchema,
    },
    transaction: {
      schema: unsentRequestSchema,
      example: { to: TO, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 },
      text:
        'EVM: the body of a send request with `nonce`, `gas_limit` and a price (`gas_price`, or the two of EIP-1559; ' +
        '`speed` is refused, for no node is asked). The policies `whitelist_receivers` and `gas_price_cap` hold as they ' +
        'do for sending; `min_balance` is not looked at. The relayer neither sends the transaction nor remembers it: a ' +
        '`nonce` that the relayer itself has used, or will use for what it sends, is the risk of the caller, because ' +
        'only one of the two transactions can be mined.',
      answer: signedTransactionSchema,
    },
  },
};
