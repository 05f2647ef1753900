import { z } from 'zod';
import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  nullableColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';

export const webhookEventNameSchema = z.enum([
  'transaction_update',
  'relayer_state_update',
  'relayer_balance_low',
  'sign_transaction',
  'sign_and_send_transaction',
  'transfer_transaction',
  'solana_dex',
  'stellar_dex_queued',
  'stellar_dex',
  'plugin_trigger_paused',
]);

export type WebhookEventName = z.infer<typeof webhookEventNameSchema>;

/**
 * How an event ended. `delivered`: the receiver took it. `dead`: it was tried for a day without success. `dropped`: its
 * notification is gone.
 */
export const webhookEndSchema = z.enum(['delivered', 'dead', 'dropped']);

export type WebhookEnd = z.infer<typeof webhookEndSchema>;

const common = {
  /**
   * In the form of a UUID v4 (`id.ts`). It is the same in every delivery, so that a receiver can recognise a
   * repetition.
   */
  id: textColumn,
  notificationId: textColumn,
  /** The subject whose order is kept: events of one subject arrive one after the other. */
  subject: textColumn,
  /** The relayer of the event; null when a version stored the event that did not note it. */
  relayerId: nullableColumn(textColumn),
  event: enumColumn(webhookEventNameSchema),
  createdAt: timestampColumn,
  /** Deliveries begun so far, the one under way included; tells a late report from the latest. */
  tries: integerColumn,
};

const delivered = {
  ...common,
  /** The exact text that is signed and sent, in every delivery. */
  body: textColumn,
  /** When its present tries began; null in rows of versions without this column. */
  dueSince: nullableColumn(timestampColumn),
  /** Tries that no longer count. */
  triesBefore: generatedColumn(integerColumn),
};

const state = {
  /** Rises with each event. */
  position: generatedColumn(integerColumn),
  nextTryAt: timestampColumn,
  /** Null while the event waits. */
  ending: nullableColumn(enumColumn(webhookEndSchema)),
  endedAt: nullableColumn(timestampColumn),
  /** The outcome of the latest try, for the operator. */
  outcome: nullableColumn(proseColumn),
};

/** What is delivered of an event. */
export const webhookEventRecord = defineRecord('outbox', delivered, { beside: state });

const listed = { ...common, ...state };

/** What lists show of an event. */
export const listedEventRecord = defineRecord('outbox', listed);

/** An event for one notification. It is stored with the change that it tells of, and kept until it has arrived. */
export interface WebhookEvent extends Omit<FieldsOf<typeof delivered>, 'dueSince' | 'triesBefore'> {
  /** When its present tries began: when it happened, or when it was to be delivered again. */
  dueSince: number;
  /** The deliveries begun since `dueSince`. */
  triesSince: number;
}

/** An event as it is put into the outbox. */
export type NewWebhookEvent = Pick<WebhookEvent, 'id' | 'notificationId' | 'subject' | 'relayerId' | 'event' | 'body'>;

/** The state of an event's delivery. `waiting`: it is under way or to be tried. Otherwise how it ended. */
export type DeliveryState = 'waiting' | WebhookEnd;

/** A listed event, with the state of its delivery. */
export interface ListedWebhookDelivery extends Omit<FieldsOf<typeof listed>, 'ending' | 'nextTryAt'> {
  state: DeliveryState;
  /** When the event is tried next; null when its delivery has ended. */
  nextTryAt: number | null;
}

/** Which deliveries are asked for; an absent field matches anything. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  /** Events of this subject. */
  subject?: string | undefined;
  /** Events of these relayers. */
  relayerIds?: readonly string[] | undefined;
}

/** The subject of the events of a transaction. */
export function webhookSubjectOf(transactionId: string): string {
  return `transaction:${transactionId}`;
}

/** The transaction that a subject is about; null for another one. */
export function transactionIdOfSubject(subject: string): string | null {
  const prefix = webhookSubjectOf('');
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : null;
}

/** The result of one delivery. `outcome` says it to the operator, without the address. */
export type WebhookDeliveryResult = { outcome: string; end: WebhookEnd } | { outcome: string; retryInMs: number };
