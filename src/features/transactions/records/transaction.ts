import { z } from 'zod';
import { networkTypeSchema } from '../../../domain/network-type.ts';
import {
  accountSequenceColumn,
  type ChangeOf,
  defineRecord,
  enumColumn,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  jsonColumn,
  jsonObjectColumn,
  nullableColumn,
  proseColumn,
  shownColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import { anchorKindSchema } from './anchor.ts';
import { noopEndSchema, transactionStatusSchema } from './transaction-state.ts';

/** Milliseconds since the Unix epoch, by the store's clock. */
export type Timestamp = number;

/**
 * What happens when all attempts of a transaction are dead. `renew`: it is signed again. `end`: it ends, because others
 * signed it too. `never`: it cannot die, and stays open until the chain shows its end.
 */
export const onDeathSchema = z.enum(['renew', 'end', 'never']);

/**
 * The plugin that sent a transaction. `depth` counts the triggers that led to it: a trigger called a plugin for what a
 * call of another trigger had sent, and so on. `since`: the durable call may have been made from then on, in milliseconds.
 */
const originSchema = z.strictObject({
  pluginId: z.string(),
  depth: z.int().min(0),
  since: z.int().optional(),
});

export type TransactionOrigin = z.infer<typeof originSchema>;

export const originColumn = nullableColumn(jsonColumn(originSchema));

/** Answers show the marked ones, in this order, under the names of the columns. */
const columns = {
  /** In the form of a UUID v4 (`orderedId`). */
  id: shownColumn(textColumn),
  /** The hash of the latest attempt, or of the one that is in a block. */
  hash: shownColumn(nullableColumn(textColumn)),
  relayerId: shownColumn(textColumn),
  networkType: enumColumn(networkTypeSchema),
  /** `<network type>:<chain identity>:<account>`: the one order in which this account's transactions are sequenced. */
  lane: textColumn,
  status: shownColumn(enumColumn(transactionStatusSchema)),
  statusReason: shownColumn(nullableColumn(proseColumn)),
  createdAt: shownColumn(timestampColumn),
  sentAt: shownColumn(nullableColumn(timestampColumn)),
  confirmedAt: shownColumn(nullableColumn(timestampColumn)),
  /** The client's `valid_until`. */
  validUntil: nullableColumn(timestampColumn),
  /**
   * The request, as the chain's request schema leaves it. Once the transaction is in a block, the request of the
   * attempt there.
   */
  request: jsonObjectColumn,
  /** What the chain decided since: prices, limits, the signature, where it was mined. */
  fields: jsonObjectColumn,
  /** The kind of anchor that each attempt consumes. */
  anchorKind: enumColumn(anchorKindSchema),
  onDeath: enumColumn(onDeathSchema),
  /**
   * Identifies bytes that the client made: posted twice, they are one transaction. Null where the service makes the
   * bytes.
   */
  contentKey: nullableColumn(textColumn),
  /** The transaction that waits for this one to be final; null for what a client asked for. */
  parentId: nullableColumn(textColumn),
  /** Null for what no plugin sent. */
  origin: originColumn,
  /**
   * The sequence of the account that the living attempts, or the executed one, consume. Null before signing, and for
   * other kinds of anchors.
   */
  sequence: nullableColumn(accountSequenceColumn),
  /**
   * The final status when a noop executes, or when no attempt can execute any more; null while the transaction is to
   * have its effect. The effect may still win: then the transaction ends as the chain shows.
   */
  noopEnd: nullableColumn(enumColumn(noopEndSchema)),
  /** When the engine has to look at the transaction again; null when final. */
  nextActionAt: nullableColumn(timestampColumn),
};

export const transactionRecord = defineRecord('transactions', columns, {
  fixed: ['id', 'relayerId', 'networkType', 'createdAt', 'anchorKind', 'onDeath', 'parentId', 'origin'],
  beside: {
    /** Rises with each acceptance. Gives the exact order of requests, whatever the clock shows. */
    accepted: generatedColumn(integerColumn),
    /** Changes with each change of a field. */
    revision: integerColumn,
    /** When the transaction became final. */
    endedAt: nullableColumn(timestampColumn),
    /** Number of effects of idempotency keys that name the transaction. It is pruned only at 0. */
    pins: generatedColumn(integerColumn),
  },
});

export type TransactionChange = ChangeOf<typeof transactionRecord>;

/**
 * One accepted request and where it stands. `request`, `fields` and `lane` are made and read by the relayer's chain
 * only; nothing above `chains/` looks inside.
 */
export interface Transaction extends FieldsOf<typeof columns> {}

/** What is known of a transaction when it is accepted. */
export type AcceptedTransaction = Pick<
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
  Partial<Pick<Transaction, 'statusReason' | 'parentId' | 'origin'>>;

/** A new transaction, pending and due at once. */
export function newTransaction(accepted: AcceptedTransaction): Transaction {
  return {
    statusReason: null,
    parentId: null,
    origin: null,
    ...transactionRecord.pick(accepted),
    status: 'pending',
    nextActionAt: accepted.createdAt,
    sentAt: null,
    confirmedAt: null,
    fields: {},
    sequence: null,
    hash: null,
    noopEnd: null,
  };
}
