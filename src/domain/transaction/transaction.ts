import { z } from 'zod';
import type { JsonObject } from '../json/json.ts';
import type { NetworkType } from '../network-type.ts';
import type { AnchorKind } from './anchor.ts';
import type { NoopEnd, TransactionStatus } from './transaction-state.ts';

/** Milliseconds since the Unix epoch, by the store's clock. */
export type Timestamp = number;

/**
 * What happens when all attempts of a transaction are dead. `renew`: it is signed again. `end`: it ends, because others
 * signed it too. `never`: it cannot die, and stays open until the chain shows its end.
 */
export const onDeathSchema = z.enum(['renew', 'end', 'never']);

export type OnDeath = z.infer<typeof onDeathSchema>;

/**
 * One accepted request and where it stands. `request`, `fields` and `lane` are made and read by the relayer's chain
 * only; nothing above `chains/` looks inside.
 */
export interface Transaction {
  /** In the form of a UUID v4 (`ordered-id.ts`). */
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
  /**
   * The request, as the chain's request schema leaves it. Once the transaction is in a block, the request of the
   * attempt there.
   */
  request: JsonObject;
  /** What the chain decided since: prices, limits, the signature, where it was mined. */
  fields: JsonObject;
  /** The kind of anchor that each attempt consumes. */
  anchorKind: AnchorKind;
  onDeath: OnDeath;
  /**
   * Identifies bytes that the client made: posted twice, they are one transaction. Null where the service makes the
   * bytes.
   */
  contentKey: string | null;
  /** The transaction that waits for this one to be final; null for what a client asked for. */
  parentId: string | null;
  /**
   * The sequence of the account that the living attempts, or the executed one, consume. Null before signing, and for
   * other kinds of anchors.
   */
  sequence: bigint | null;
  /** The hash of the latest attempt, or of the one that is in a block. */
  hash: string | null;
  /**
   * The final status when a noop executes, or when no attempt can execute any more; null while the transaction is to
   * have its effect. The effect may still win: then the transaction ends as the chain shows.
   */
  noopEnd: NoopEnd | null;
  /** When the engine has to look at the transaction again; null when final. */
  nextActionAt: Timestamp | null;
}

/** What is known of a transaction when it is accepted. */
export type Accepted = Pick<
  Transaction,
  | 'id'
  | 'relayerId'
  | 'networkType'
  | 'lane'
  | 'request'
  | 'validUntil'
  | 'anchorKind'
  | 'onDeath'
  | 'contentKey'
  | 'createdAt'
> &
  Partial<Pick<Transaction, 'statusReason' | 'parentId'>>;

/** A new transaction, pending and due at once. */
export function newTransaction(accepted: Accepted): Transaction {
  const { id, relayerId, networkType, lane, createdAt, statusReason = null, parentId = null } = accepted;
  const { request, validUntil, anchorKind, onDeath, contentKey } = accepted;
  const nextActionAt: Timestamp = createdAt;
  return {
    id,
    relayerId,
    networkType,
    lane,
    createdAt,
    statusReason,
    parentId,
    nextActionAt,
    request,
    validUntil,
    anchorKind,
    onDeath,
    contentKey,
    status: 'pending',
    sentAt: null,
    confirmedAt: null,
    fields: {},
    sequence: null,
    hash: null,
    noopEnd: null,
  };
}
