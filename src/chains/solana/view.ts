import { z } from 'zod';
import { amountOf } from '../../domain/amount.ts';
import type { WireObject } from '../../domain/json/json.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { isFinal } from '../../features/transactions/records/transaction-state.ts';
import type { WebhookEventName } from '../../features/webhooks/records/webhook-event.ts';
import { withoutUndefined } from '../policy-fields.ts';
import { answerOf, receiptIn, transactionFields } from '../transaction-answer.ts';
import {
  readChainFields,
  readStoredRequest,
  type SolanaFields,
  type SolanaReceipt,
  type SolanaRequest,
} from './schema.ts';

const instructionSchema = z.object({
  program_id: z.string(),
  accounts: z.array(z.object({ pubkey: z.string(), is_signer: z.boolean(), is_writable: z.boolean() })),
  data: z.string().meta({ description: 'Data of the instruction, in base64' }),
});

interface Shown {
  transaction: Transaction;
  request: SolanaRequest;
  fields: SolanaFields | undefined;
}

const { id, status, created_at, hash, relayer_id: _, ...shown } = transactionFields(undefined);

/** A transaction as answers and webhooks show it. Fields that are not known yet are left out, as in the reference. */
export const transactionAnswer = answerOf<Shown>({
  id,
  status,
  created_at,
  transaction: [
    z.string().meta({ description: 'Transaction in base64; empty until it is built' }),
    ({ fields, request }) => fields?.transaction ?? request.transaction ?? '',
  ],
  signature: [
    hash[0].meta({ description: 'Signature in base58, which identifies the transaction on the chain' }),
    hash[1],
  ],
  ...shown,
  instructions: [
    z.array(instructionSchema).optional().meta({ description: 'Instructions of the request' }),
    ({ request }) => request.instructions,
  ],
});

export function transactionView(transaction: Transaction): WireObject {
  const request = readStoredRequest(transaction.request);
  return transactionAnswer.view({ transaction, request, fields: readChainFields(transaction.fields) });
}

/** How long an attempt stays valid, its durable nonce, and what it costs. */
export function attemptView({ fields }: Attempt): WireObject {
  const known = readChainFields(fields);
  if (known === undefined) return {};
  return {
    last_valid_block_height: known.last_valid_block_height === null ? null : amountOf(known.last_valid_block_height),
    nonce_account: known.nonce_account ?? null,
    fee: amountOf(known.fee),
  };
}

/** Where the transaction is and what it did there; null while it is in no block. */
export function inclusionView(transaction: Transaction): WireObject | null {
  const receipt = receiptOf(transaction);
  if (receipt === undefined) return null;
  return withoutUndefined({
    slot: amountOf(receipt.slot),
    succeeded: receipt.succeeded,
    fee: receipt.fee === undefined ? undefined : amountOf(receipt.fee),
    logs: receipt.logs,
  });
}

/** Where the transaction is, in words; undefined while it is in no block. */
export function inclusionText(transaction: Transaction): string | undefined {
  const receipt = receiptOf(transaction);
  return receipt && `the block of slot ${receipt.slot}`;
}

/** Whether the block that the transaction is in shows that it failed. */
export function hasFailedInBlock(transaction: Transaction): boolean {
  return receiptOf(transaction)?.succeeded === false;
}

function receiptOf(transaction: Transaction): SolanaReceipt | undefined {
  return receiptIn(transaction, readChainFields(transaction.fields));
}

/**
 * The event of a swap that has ended, in the reference's form; undefined for other transactions. The destination amount
 * is what the market has promised. The slippage bounds how much less arrives.
 */
export function swapEvent(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined {
  const result = isFinal(transaction.status) ? swapResult(transaction) : undefined;
  return result && { event: 'solana_dex', payload: { payload_type: 'solana_dex', swap_results: [result] } };
}

function swapResult({ request, fields, hash, status, statusReason }: Transaction): WireObject | undefined {
  const { swap } = readStoredRequest(request);
  if (swap === undefined) return undefined;
  const made = readChainFields(fields)?.swap;
  const succeeded = status === 'confirmed';
  return {
    mint: swap.mint,
    source_amount: made === undefined ? 0n : amountOf(made.given),
    destination_amount: made === undefined || !succeeded ? 0n : amountOf(made.promised),
    transaction_signature: hash ?? '',
    error: succeeded ? null : (statusReason ?? status),
  };
}
