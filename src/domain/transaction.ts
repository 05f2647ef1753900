import { z } from 'zod';
import type { JsonObject } from './json.ts';
import type { NetworkType } from './network-type.ts';
import type { TransactionStatus, VoidEnd } from './transaction-state.ts';

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
  /** What is asked of it, as the chain's request schema leaves it; once it is in a block, what that version did. */
  request: JsonObject;
  /** What the chain decided since: prices, limits, the signature, where it was mined. */
  fields: JsonObject;
  /** The account's nonce or sequence number; null until the first attempt is signed. */
  sequence: bigint | null;
  /** Of the latest attempt, or of the one that is in a block. */
  hash: string | null;
  /**
   * What it becomes when a version that does nothing takes its sequence; null while it is meant to have its effect. The
   * effect may still win: then it ends as what the chain shows.
   */
  voidAs: VoidEnd | null;
  /** When the engine has to look at it again; null when final. */
  nextActionAt: Timestamp | null;
}

/**
 * Why a version was signed: to do what was asked; the same, dearer; to do something else instead; or to take the
 * sequence and do nothing.
 */
export const attemptPurposeSchema = z.enum(['send', 'bump', 'replace', 'void']);

export type AttemptPurpose = z.infer<typeof attemptPurposeSchema>;

/** One signed version of a transaction: committed before its first byte leaves, never changed, never forgotten. */
export interface Attempt {
  transactionId: string;
  /** Counts up from 1 within its transaction. */
  ordinal: number;
  lane: string;
  sequence: bigint;
  purpose: AttemptPurpose;
  /** What it asks and what the chain decided for it: what the transaction's become if this version takes effect. */
  request: JsonObject;
  fields: JsonObject;
  /** The signed bytes, in the encoding of the chain's RPC. */
  raw: string;
  hash: string;
  createdAt: Timestamp;
  /** When a node was first known to have it. */
  acceptedAt: Timestamp | null;
  /** Scheme, host and port of the endpoint that was the first to have it, where that is known. */
  acceptedBy?: string | null;
}
