import type { Timestamp } from './transaction.ts';
import type { TransactionStatus } from './transaction-state.ts';

/** The position of an event among the events of all transactions. */
export interface EventPlace {
  /** The number of the write that stored the event. */
  written: number;
  position: number;
}

/** The place before every event. */
export const FIRST_PLACE: EventPlace = { written: 0, position: 0 };

/**
 * A transaction was accepted, or its status, hash or `noopEnd` changed. The fields show the transaction right after
 * that.
 */
export interface TransactionEvent {
  place: EventPlace;
  at: Timestamp;
  transactionId: string;
  relayerId: string;
  status: TransactionStatus;
  statusReason: string | null;
  hash: string | null;
}
