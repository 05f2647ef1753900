import { z } from 'zod';
import type { Timestamp } from './transaction/transaction.ts';

/** One thing that happened, for one notification: stored with the change that it tells of, kept until it has arrived. */
export interface WebhookEvent {
  /** UUID v4, the same in every delivery: by it a receiver knows a repetition. */
  id: string;
  notificationId: string;
  /** Whose order is kept: events of one subject arrive one after the other. */
  subject: string;
  /** Whose event it is; null for one of a version that did not note it. */
  relayerId: string | null;
  event: WebhookEventName;
  /** The exact text that is signed and sent, in every delivery. */
  body: string;
  createdAt: Timestamp;
  /** When its tries began to count: when it happened, or when it was to be delivered again. */
  dueSince: Timestamp;
  /** Deliveries begun so far, the one under way included; tells a late report from the latest. */
  tries: number;
  /** Of these, those since `dueSince`. */
  triesSince: number;
}

/** An event as it is put into the outbox. */
export type NewWebhookEvent = Pick<WebhookEvent, 'id' | 'notificationId' | 'subject' | 'relayerId' | 'event' | 'body'>;

/** How far the delivery of an event is: under way or to be tried, or ended. */
export type DeliveryState = 'waiting' | WebhookEnd;

/** An event with what became of it, as it is listed. */
export interface Delivery extends Omit<WebhookEvent, 'body' | 'dueSince' | 'triesSince'> {
  /** Rises with each event. */
  position: number;
  state: DeliveryState;
  /** When it is tried next; of one that has ended, null. */
  nextTryAt: Timestamp | null;
  endedAt: Timestamp | null;
  /** Of the latest try, for the operator. */
  outcome: string | null;
}

/** Which deliveries are asked for; what is absent may be anything. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  /** Of this one. */
  subject?: string | undefined;
  /** Of these relayers. */
  relayerIds?: readonly string[] | undefined;
}

/** The subject of the events of a transaction. */
export function subjectOf(transactionId: string): string {
  return `transaction:${transactionId}`;
}

/** The transaction that a subject is about; null for another one. */
export function transactionOf(subject: string): string | null {
  const prefix = subjectOf('');
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : null;
}

export const eventNameSchema = z.enum([
  'transaction_update',
  'relayer_state_update',
  'relayer_balance_low',
  'sign_transaction',
  'sign_and_send_transaction',
  'transfer_transaction',
  'solana_dex',
  'stellar_dex_queued',
  'stellar_dex',
]);

export type WebhookEventName = z.infer<typeof eventNameSchema>;

/**
 * How an event ended. `delivered`: the receiver took it. `dead`: it was tried for a day in vain. `dropped`: its
 * notification is gone.
 */
export const webhookEndSchema = z.enum(['delivered', 'dead', 'dropped']);

export type WebhookEnd = z.infer<typeof webhookEndSchema>;

/** What came of one delivery; `outcome` says it to the operator, without the address. */
export type WebhookReport = { outcome: string; end: WebhookEnd } | { outcome: string; retryInMs: number };
