import { z } from 'zod';
import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  integerColumn,
  jsonObjectColumn,
  nullableColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import { anchorColumn } from './anchor.ts';

/**
 * Why an attempt was signed. `send`: to do what was asked. `bump`: the same, dearer. `replace`: to do something else
 * instead. `noop`: to take the anchor and do nothing.
 */
export const attemptPurposeSchema = z.enum(['send', 'bump', 'replace', 'noop']);

const columns = {
  transactionId: textColumn,
  /** Counts up from 1 within its transaction. */
  ordinal: integerColumn,
  lane: textColumn,
  anchor: anchorColumn,
  purpose: enumColumn(attemptPurposeSchema),
  /**
   * The request of the attempt, and the fields that the chain decided for it. If this attempt takes effect, the
   * transaction gets both.
   */
  request: jsonObjectColumn,
  fields: jsonObjectColumn,
  /** The signed bytes, in the encoding of the chain's RPC. */
  raw: textColumn,
  hash: textColumn,
  createdAt: timestampColumn,
  /** When a node was first known to have the attempt. */
  acceptedAt: nullableColumn(timestampColumn),
  /** Scheme, host and port of the first endpoint that had the attempt, where that is known. */
  acceptedBy: nullableColumn(textColumn),
  /**
   * When the attempt was proved unable ever to execute; null while it may execute. Stored, because a chain's history
   * may be pruned later.
   */
  deadAt: nullableColumn(timestampColumn),
};

export const attemptRecord = defineRecord('attempts', columns, { key: ['transactionId', 'ordinal'] });

/**
 * One signed version of a transaction. It is committed before its first byte leaves, and is never changed and never
 * forgotten.
 */
export interface Attempt extends FieldsOf<typeof columns> {}

/** The fields of an attempt that no node has yet. */
export const UNACCEPTED_ATTEMPT = { acceptedAt: null, acceptedBy: null, deadAt: null } as const;

/** The attempts that may still execute. */
export function livingAttempts<T extends Pick<Attempt, 'deadAt'>>(attempts: readonly T[]): T[] {
  return attempts.filter(({ deadAt }) => deadAt === null);
}
