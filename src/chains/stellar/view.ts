import { amountOf } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json/json.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { accountOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { readChainFields, type StellarReceipt } from './schema.ts';

/** A transaction as answers and webhooks show it. Zero stands for what is not known yet, as in the reference. */
export function transactionView(transaction: Transaction): WireObject {
  const fields = readChainFields(transaction.fields);
  const receipt = receiptOf(transaction);
  return {
    id: transaction.id,
    hash: receipt?.hash ?? transaction.hash,
    status: transaction.status,
    status_reason: transaction.statusReason,
    created_at: wireTime(transaction.createdAt),
    sent_at: moment(transaction.sentAt),
    confirmed_at: moment(transaction.confirmedAt),
    source_account: accountOfLane(transaction.lane),
    fee: amountOf(receipt?.fee ?? fields?.fee ?? 0),
    sequence_number: String(fields?.sequence ?? 0),
    relayer_id: transaction.relayerId,
    ...(receipt?.returned === undefined ? {} : { transaction_result_xdr: receipt.returned }),
  };
}

/** An attempt's sequence, how long the attempt stays valid, and what it bids. */
export function attemptView({ fields }: Attempt): WireObject {
  const known = readChainFields(fields);
  if (known === undefined) return {};
  return {
    sequence_number: known.sequence === undefined ? null : String(known.sequence),
    max_time: amountOf(known.max_time),
    fee: amountOf(known.fee),
  };
}

/** Where the transaction is and what it did there; null while it is in no ledger. */
export function inclusionView(transaction: Transaction): WireObject | null {
  const receipt = receiptOf(transaction);
  if (receipt === undefined) return null;
  const { ledger, succeeded, fee } = receipt;
  return { ledger: amountOf(ledger), succeeded, fee: fee === undefined ? null : amountOf(fee) };
}

/** Where the transaction is, in words; undefined while it is in no ledger. */
export function inclusionText(transaction: Transaction): string | undefined {
  const receipt = receiptOf(transaction);
  return receipt && `ledger ${receipt.ledger}`;
}

/** Whether the ledger that the transaction is in shows that it failed. */
export function hasFailedInBlock(transaction: Transaction): boolean {
  return receiptOf(transaction)?.succeeded === false;
}

/**
 * The receipt of a transaction in a ledger. A transaction that another endpoint denied may still have its old receipt.
 */
function receiptOf({ status, fields }: Transaction): StellarReceipt | undefined {
  return status === 'sent' || status === 'submitted' ? undefined : readChainFields(fields)?.receipt;
}

function moment(at: number | null): string | null {
  return at === null ? null : wireTime(at);
}
