import { amountOf, type JsonAmount } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json.ts';
import type { Transaction } from '../../domain/transaction.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Account } from '../chain.ts';
import { readFields, readRequest } from './schema.ts';

/**
 * A transaction as answers and webhooks show it: every key of the reference always there and in its order, then the lists
 * that it knows nothing of, where they were given.
 */
export function transactionView(transaction: Transaction, account: Account): WireObject {
  const { stored } = readRequest(transaction.request);
  const fields = readFields(transaction.fields);
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
    from: account.address,
    to: stored.to,
    relayer_id: transaction.relayerId,
    data: stored.data,
    max_fee_per_gas: decimal(prices.max_fee_per_gas),
    max_priority_fee_per_gas: decimal(prices.max_priority_fee_per_gas),
    signature: fields?.signature ?? null,
    speed: stored.speed,
    is_canceled: transaction.isCanceled,
    ...(stored.access_list === undefined ? {} : { access_list: stored.access_list }),
    ...(stored.authorization_list === undefined ? {} : { authorization_list: stored.authorization_list }),
  };
}

function moment(at: number | null): string | null {
  return at === null ? null : wireTime(at);
}

function decimal(amount: JsonAmount | null | undefined): string | null {
  return amount == null ? null : String(amount);
}
