import { amountOf } from '../../../domain/amount.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { isFinal } from '../../../domain/transaction/transaction-state.ts';
import type { WebhookEventName } from '../../../domain/webhook-event.ts';
import { readFields, readRequest } from '../schema.ts';

/**
 * The event of a swap, in the reference's form: that it is signed, and how it ended. Undefined for other transactions.
 * The destination amount is the price that was found. The slippage bounds how much less arrives.
 */
export function swapEvent(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined {
  const { status } = transaction;
  const event = isFinal(status) ? 'stellar_dex' : status === 'sent' ? 'stellar_dex_queued' : undefined;
  const result = event && swapResult(transaction);
  return event && result && { event, payload: { payload_type: 'stellar_dex', swap_results: [result] } };
}

function swapResult({ request, fields, hash, status, statusReason }: Transaction): WireObject | undefined {
  const asked = readRequest(request);
  if (!('swap' in asked)) return undefined;
  const made = readFields(fields)?.swap;
  const isInVain = isFinal(status) && status !== 'confirmed';
  return {
    mint: asked.swap.asset,
    source_amount: made === undefined ? 0n : amountOf(made.given),
    destination_amount: made === undefined || isInVain ? 0n : amountOf(made.promised),
    transaction_signature: hash ?? '',
    error: isInVain ? (statusReason ?? status) : null,
  };
}
