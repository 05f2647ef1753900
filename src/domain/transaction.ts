import type { JsonObject } from './json.ts';
import type { NetworkType } from './network-type.ts';
import type { TransactionStatus } from './transaction-state.ts';

/** Milliseconds since the Unix epoch, by the store's clock. */
export type Timestamp = number;

/**
 * One accepted request and where it stands. `request`, `fields` and `lane` are made and read by the relayer's chain
 * only; nothing above `chains/` looks inside.
 */
export interface Transaction {
  /** UUID v4. */
  id: string;
  relayerId: string;
  networkType: NetworkType;
  /** `<network type>:<chain identity>:<account>`: the one order in which this account's transactions are sequenced. */
  lane: string;
  status: TransactionStatus;
  statusReason: string | null;
  createdAt: Timestamp;
  sentAt: Timestamp | null;
  confirmedAt: Timestamp | null;
  /** The client's `valid_until`. */
  validUntil: Timestamp | null;
  /** What was asked, as the chain's request schema leaves it. */
  request: JsonObject;
  /** What the chain decided since: prices, limits, the signature, where it was mined. */
  fields: JsonObject;
  /** The account's nonce or sequence number; null until the first attempt is signed. */
  sequence: bigint | null;
  /** Of the latest attempt, or of the one that is in a block. */
  hash: string | null;
  isCanceled: boolean;
  /** When the engine has to look at it again; null when final. */
  nextActionAt: Timestamp | null;
}

/** One signed version of a transaction: committed before its first byte leaves, never changed, never forgotten. */
export interface Attempt {
  transactionId: string;
  /** Counts up from 1 within its transaction. */
  ordinal: number;
  lane: string;
  sequence: bigint;
  /** The signed bytes, in the encoding of the chain's RPC. */
  raw: string;
  hash: string;
  createdAt: Timestamp;
  /** When a node was first known to have it. */
  acceptedAt: Timestamp | null;
}
