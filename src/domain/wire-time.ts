import type { Timestamp } from '../features/transactions/records/transaction.ts';

/** A moment as answers and webhooks write it: RFC 3339 with offset `+00:00`, as the reference, never `Z`. */
export function wireTime(at: Timestamp): string {
  return `${new Date(at).toISOString().slice(0, -1)}+00:00`;
}
