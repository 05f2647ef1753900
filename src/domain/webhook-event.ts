import type { Timestamp } from './transaction/transaction.ts';

/** One thing that happened, for one notification: stored with the change that it tells of, kept until it has arrived. */
export interface WebhookEvent {
  /** UUID v4, the same in every delivery: by it a receiver knows a repetition. */
  id: string;
  notificationId: string;
  /** Whose order is kept: events of one subject arrive one after the other. */
  subject: string;
  event: WebhookEventName;
  /** The exact text that is signed and sent, in every delivery. */
  body: string;
  createdAt: Timestamp;
  /** Deliveries begun so far, the one under way included; tells a late report from the latest. */
  tries: number;
}

export type WebhookEventName = 'transaction_update' | 'relayer_state_update';

/**
 * How an event ended. `delivered`: the receiver took it. `dead`: it was tried to the end of the schedule. `dropped`:
 * its notification is gone.
 */
export type WebhookEnd = 'delivered' | 'dead' | 'dropped';

/** What came of one delivery; `outcome` says it to the operator, without the address. */
export type WebhookReport = { outcome: string; end: WebhookEnd } | { outcome: string; retryInMs: number };
