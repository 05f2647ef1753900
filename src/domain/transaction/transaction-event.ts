import type { Timestamp } from './transaction.ts';
import type { TransactionStatus } from './transaction-state.ts';

/** Where an event stands among those of all transactions. */
export interface EventPlace {
  /** Of the write that it is from. */
  written: number;
  position: number;
}

/** Before every event. */
export const FIRST_PLACE: EventPlace = { written: 0, position: 0 };

/** That a transaction was accepted, or has another status, hash or end in sight: how it stood right after that. */
export interface TransactionEvent {
  place: EventPlace;
  at: Timestamp;
  transactionId: string;
  relayerId: string;
  status: TransactionStatus;
  statusReason: string | null;
  hash: string | null;
}
