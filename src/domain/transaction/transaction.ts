import { z } from 'zod';
import type { JsonObject } from '../json/json.ts';
import type { NetworkType } from '../network-type.ts';
import type { AnchorKind } from './anchor.ts';
import type { NoopEnd, TransactionStatus } from './transaction-state.ts';

/** Milliseconds since the Unix epoch, by the store's clock. */
export type Timestamp = number;

/**
 * What becomes of a transaction when all its attempts are dead: it is signed anew, or it ends, as others signed it too.
 * What can `never` die stays open until the chain shows its end.
 */
export const onDeathSchema = z.enum(['renew', 'end', 'never']);

export type OnDeath = z.infer<typeof onDeathSchema>;

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
  /** What each of its attempts consumes. */
  anchorKind: AnchorKind;
  onDeath: OnDeath;
  /** Names bytes that the client made: posted twice, they are one transaction. Null where the service makes the bytes. */
  contentKey: string | null;
  /** The transaction that waits for this one to be final; null for what a client asked for. */
  parentId: string | null;
  /** What the living attempts, or the executed one, consume of the account; null before, and of the other kinds. */
  sequence: bigint | null;
  /** Of the latest attempt, or of the one that is in a block. */
  hash: string | null;
  /**
   * What it ends as when an attempt that does nothing executes, or none can any more; null while it is meant to have its
   * effect. The effect may still win: then it ends as what the chain shows.
   */
  noopEnd: NoopEnd | null;
  /** When the engine has to look at it again; null when final. */
  nextActionAt: Timestamp | null;
}
