import { amountOf } from '../../../domain/amount.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { isFinal } from '../../../domain/transaction/transaction-state.ts';
import type { WebhookEventName } from '../../../domain/webhook-event.ts';
import { readFields, readRequest } from '../schema.ts';

/**
 * The event of a swap that has ended, in the reference's form; undefined for other transactions. The destination amount
 * is what the market has promised. The slippage bounds how much less arrives.
 */
export function swapEvent(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined {
  const result = isFinal(transaction.status) ? swapResult(transaction) : undefined;
  return result && { event: 'solana_dex', payload: { payload_type: 'solana_dex', swap_results: [result] } };
}

function swapResult({ request, fields, hash, status, statusReason }: Transaction): WireObject | undefined {
  const { swap } = readRequest(request);
  if (swap === undefined) return undefined;
  const made = readFields(fields)?.swap;
  const succeeded = status === 'confirmed';
  return {
    mint: swap.mint,
    source_amount: made === undefined ? 0n : amountOf(made.given),
    destination_amount: made === undefined || !succeeded ? 0n : amountOf(made.promised),
    transaction_signature: hash ?? '',
    error: succeeded ? null : (statusReason ?? status),
  };
}
