import { z } from 'zod';
import { amountOf } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json/json.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { accountOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { answerOf, receiptIn, transactionFields } from '../transaction-answer.ts';
import { readChainFields, type StellarFields, type StellarReceipt } from './schema.ts';

interface Shown {
  transaction: Transaction;
  fields: StellarFields | undefined;
  receipt: StellarReceipt | undefined;
}

const { relayer_id, ...leading } = transactionFields(null);

/** A transaction as answers and webhooks show it. Zero stands for what is not known yet, as in the reference. */
export const transactionAnswer = answerOf<Shown>({
  ...leading,
  hash: [
    leading.hash[0].meta({ description: 'Hash of the transaction on the chain, in hexadecimal' }),
    ({ transaction, receipt }) => receipt?.hash ?? transaction.hash,
  ],
  source_account: [z.string(), ({ transaction }) => accountOfLane(transaction.lane)],
  fee: [
    z.int().meta({ description: 'In stroops: the bid, and in the end the fee that was charged' }),
    ({ receipt, fields }) => amountOf(receipt?.fee ?? fields?.fee ?? 0),
  ],
  sequence_number: [
    z.string().meta({ description: 'Sequence number; 0 until the transaction has one' }),
    ({ fields }) => String(fields?.sequence ?? 0),
  ],
  relayer_id,
  transaction_result_xdr: [
    z
      .string()
      .optional()
      .meta({ description: 'Return value of the contract function, in base64; absent if there is none' }),
    ({ receipt }) => receipt?.returned,
  ],
});

export function transactionView(transaction: Transaction): WireObject {
  const fields = readChainFields(transaction.fields);
  return transactionAnswer.view({ transaction, fields, receipt: receiptIn(transaction, fields) });
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

function receiptOf(transaction: Transaction): StellarReceipt | undefined {
  return receiptIn(transaction, readChainFields(transaction.fields));
}
