import type { Timestamp, Transaction } from './transaction.ts';

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
