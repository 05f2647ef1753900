import { getCreateAddress } from 'ethers/address';
import { amountOf, type JsonAmount } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json/json.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { accountOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { type EvmFields, readChainFields, readStoredRequest } from './schema.ts';

/**
 * A transaction as answers and webhooks show it. Every key of the reference is always there, in its order. Keys that
 * the reference does not have follow where they apply: the address of a created contract, and the lists that were
 * given.
 */
export function transactionView(transaction: Transaction): WireObject {
  const { stored } = readStoredRequest(transaction.request);
  const fields = readChainFields(transaction.fields);
  const prices = fields ?? stored;
  const gasLimit = fields?.gas_limit ?? stored.gas_limit;
  return {
    id: transaction.id,
    hash: transaction.hash,
    status: transaction.status,
    status_reason: transaction.statusReason,
    created_at: wireTime(transaction.createdAt),
    sent_at: moment(transaction.sentAt),
    confirmed_at: moment(transaction.confirmedAt),
    gas_price: decimal(prices.gas_price),
    gas_limit: gasLimit === null ? null : amountOf(gasLimit),
    nonce: transaction.sequence,
    value: stored.value,
    from: accountOfLane(transaction.lane),
    to: stored.to,
    relayer_id: transaction.relayerId,
    data: stored.data,
    max_fee_per_gas: decimal(prices.max_fee_per_gas),
    max_priority_fee_per_gas: decimal(prices.max_priority_fee_per_gas),
    signature: fields?.signature ?? null,
    speed: stored.speed,
    is_canceled: transaction.noopEnd === 'canceled',
    ...(stored.to === null ? { contract_address: createdContract(transaction) } : {}),
    ...(stored.access_list === undefined ? {} : { access_list: stored.access_list }),
    ...(stored.authorization_list === undefined ? {} : { authorization_list: stored.authorization_list }),
  };
}

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

/** The receipt while the transaction is in a block. A reorganisation may leave an old receipt behind. */
function receiptOf({ status, fields }: Transaction): EvmFields['receipt'] {
  return status === 'sent' || status === 'submitted' ? undefined : readChainFields(fields)?.receipt;
}

function moment(at: number | null): string | null {
  return at === null ? null : wireTime(at);
}

function decimal(amount: JsonAmount | null | undefined): string | null {
  return amount == null ? null : String(amount);
}
