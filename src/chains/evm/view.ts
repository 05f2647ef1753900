import { getCreateAddress } from 'ethers/address';
import { z } from 'zod';
import { amountOf, type JsonAmount } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json/json.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { accountOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { amountOrNull } from '../policy-fields.ts';
import { answerOf, receiptIn, transactionFields } from '../transaction-answer.ts';
import { type EvmFields, readChainFields, readStoredRequest, type StoredEvmRequest, speedSchema } from './schema.ts';

const decimalSchema = z.string().nullable().meta({ description: 'In wei per unit of gas, as decimal digits' });
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

interface Shown {
  transaction: Transaction;
  stored: StoredEvmRequest;
  fields: EvmFields | undefined;
  prices: Partial<Pick<StoredEvmRequest | EvmFields, 'gas_price' | 'max_fee_per_gas' | 'max_priority_fee_per_gas'>>;
}

const { relayer_id, ...leading } = transactionFields(null);

/**
 * A transaction as answers and webhooks show it. Every key of the reference is always there, in its order. Keys that
 * the reference does not have follow where they apply: the address of a created contract, and the lists that were
 * given.
 */
export const transactionAnswer = answerOf<Shown>({
  ...leading,
  gas_price: [decimalSchema, ({ prices }) => decimal(prices.gas_price)],
  gas_limit: [amount.nullable(), ({ fields, stored }) => amountOrNull(fields?.gas_limit ?? stored.gas_limit)],
  nonce: [amount.nullable(), ({ transaction }) => transaction.sequence],
  value: [wei, ({ stored }) => stored.value],
  from: [z.string(), ({ transaction }) => accountOfLane(transaction.lane)],
  to: [z.string().nullable(), ({ stored }) => stored.to],
  relayer_id,
  data: [z.string().nullable(), ({ stored }) => stored.data],
  max_fee_per_gas: [decimalSchema, ({ prices }) => decimal(prices.max_fee_per_gas)],
  max_priority_fee_per_gas: [decimalSchema, ({ prices }) => decimal(prices.max_priority_fee_per_gas)],
  signature: [signatureSchema.nullable(), ({ fields }) => fields?.signature ?? null],
  speed: [speedSchema.nullable(), ({ stored }) => stored.speed],
  is_canceled: [z.boolean().nullable(), ({ transaction }) => transaction.noopEnd === 'canceled'],
  contract_address: [
    z.string().nullable().optional().meta({
      description: 'Only for contract creations: address of the contract; null without a nonce or a created contract',
    }),
    ({ transaction, stored }) => (stored.to === null ? createdContract(transaction) : undefined),
  ],
  access_list: [
    accessListSchema.optional().meta({ description: 'Access list of the request (EIP-2930)' }),
    ({ stored }) => stored.access_list,
  ],
  authorization_list: [
    authorizationListSchema.optional().meta({ description: 'Authorization list of the request (EIP-7702)' }),
    ({ stored }) => stored.authorization_list,
  ],
});

export function transactionView(transaction: Transaction): WireObject {
  const { stored } = readStoredRequest(transaction.request);
  const fields = readChainFields(transaction.fields);
  return transactionAnswer.view({ transaction, stored, fields, prices: fields ?? stored });
}

/** The answers of the signing endpoints. */
export const signedAnswers = {
  signature: signatureSchema,
  transaction: z.object({
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
    gas_price: decimalSchema,
    max_fee_per_gas: decimalSchema,
    max_priority_fee_per_gas: decimalSchema,
  }),
};

/**
 * The address of the contract that a transaction creates. It comes from the receipt, and before there is one from
 * sender and nonce. Null while the transaction has no nonce, and if no contract was created.
 */
function createdContract(transaction: Transaction): string | null {
  const { sequence: nonce, status, lane } = transaction;
  const receipt = receiptOf(transaction);
  if (nonce === null || receipt?.succeeded === false) return null;
  if (status === 'failed' || status === 'canceled' || status === 'expired') return null;
  return receipt?.contract_address ?? getCreateAddress({ from: accountOfLane(lane), nonce }).toLowerCase();
}

/** What one signed attempt does and offers to pay. Its data is left out, because there may be many attempts. */
export function attemptView({ request, fields }: Attempt): WireObject {
  const { stored } = readStoredRequest(request);
  const known = readChainFields(fields);
  return {
    to: stored.to,
    value: stored.value,
    gas_limit: known === undefined ? null : amountOf(known.gas_limit),
    gas_price: decimal(known?.gas_price),
    max_fee_per_gas: decimal(known?.max_fee_per_gas),
    max_priority_fee_per_gas: decimal(known?.max_priority_fee_per_gas),
  };
}

/**
 * The block that the transaction is in, with the gas that it used and the price that it paid; null while it is in none.
 */
export function inclusionView(transaction: Transaction): WireObject | null {
  const receipt = receiptOf(transaction);
  if (receipt === undefined) return null;
  return {
    block_number: amountOf(receipt.block_number),
    block_hash: receipt.block_hash,
    succeeded: receipt.succeeded,
    gas_used: receipt.gas_used === null ? null : amountOf(receipt.gas_used),
    effective_gas_price: decimal(receipt.effective_gas_price),
  };
}

/** The block that the transaction is in, in words; undefined while it is in none. */
export function inclusionText(transaction: Transaction): string | undefined {
  const receipt = receiptOf(transaction);
  return receipt && `block ${receipt.block_number} (${receipt.block_hash})`;
}

/** Whether the block that the transaction is in shows that it reverted. */
export function hasFailedInBlock(transaction: Transaction): boolean {
  return receiptOf(transaction)?.succeeded === false;
}

function receiptOf(transaction: Transaction): EvmFields['receipt'] {
  return receiptIn(transaction, readChainFields(transaction.fields));
}

function decimal(amount: JsonAmount | null | undefined): string | null {
  return amount == null ? null : String(amount);
}
