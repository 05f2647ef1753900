import { z } from 'zod';

/** The statuses of a transaction, as written on the wire. */
export const transactionStatusSchema = z.enum([
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
]);

export type TransactionStatus = z.infer<typeof transactionStatusSchema>;

/**
 * The statuses that may follow each status of a transaction.
 *
 * `pending`: accepted; no signed attempt of it can execute. `sent`: signed bytes are stored, and nobody is known to
 * have them. `submitted`: a node has them; when they are proved dead, it goes back to `pending`. `mined`: in a block,
 * not yet final; a reorganisation takes it back to `submitted`. The last four are final: nothing leaves them.
 */
const TRANSITIONS: Record<TransactionStatus, readonly TransactionStatus[]> = {
  pending: ['sent', 'failed', 'canceled', 'expired'],
  sent: ['pending', 'submitted', 'mined', 'confirmed', 'failed', 'canceled', 'expired'],
  submitted: ['pending', 'mined', 'confirmed', 'failed', 'canceled', 'expired'],
  mined: ['submitted', 'confirmed', 'failed', 'canceled', 'expired'],
  confirmed: [],
  failed: [],
  canceled: [],
  expired: [],
};

/** The final statuses of a transaction that is to have no effect any more. */
export const noopEndSchema = transactionStatusSchema.extract(['canceled', 'expired', 'failed']);

export type NoopEndStatus = z.infer<typeof noopEndSchema>;

/** True when nothing can happen to the transaction any more. */
export function isFinal(status: TransactionStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

/** True when a transaction may go from one status to the other. Staying is not a transition. */
export function canBecome(from: TransactionStatus, to: TransactionStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

export const FINAL_STATUSES: readonly TransactionStatus[] = transactionStatusSchema.options.filter(isFinal);

/** The statuses on which a plugin's `wait` resolves. */
export function endsPluginWait(status: TransactionStatus): boolean {
  return status === 'mined' || isFinal(status);
}
