import { z } from 'zod';
import type { JsonObject } from '../json/json.ts';
import type { Anchor } from './anchor.ts';
import type { Timestamp } from './transaction.ts';

/**
 * Why an attempt was signed: to do what was asked; the same, dearer; to do something else instead; or to take the anchor
 * and do nothing.
 */
export const attemptPurposeSchema = z.enum(['send', 'bump', 'replace', 'noop']);

export type AttemptPurpose = z.infer<typeof attemptPurposeSchema>;

/** One signed version of a transaction: committed before its first byte leaves, never changed, never forgotten. */
export interface Attempt {
  transactionId: string;
  /** Counts up from 1 within its transaction. */
  ordinal: number;
  lane: string;
  anchor: Anchor;
  purpose: AttemptPurpose;
  /** What it asks and what the chain decided for it: what the transaction's become if this attempt takes effect. */
  request: JsonObject;
  fields: JsonObject;
  /** The signed bytes, in the encoding of the chain's RPC. */
  raw: string;
  hash: string;
  createdAt: Timestamp;
  /** When a node was first known to have it. */
  acceptedAt: Timestamp | null;
  /** Scheme, host and port of the endpoint that was the first to have it, where that is known. */
  acceptedBy: string | null;
  /** When it was proved that it can never execute; null while it may. Stored, for a chain's history may be pruned later. */
  deadAt: Timestamp | null;
}

/** Of an attempt that nobody has yet. */
export const NEW_ATTEMPT = { acceptedAt: null, acceptedBy: null, deadAt: null } as const;

/** Those that may still execute. */
export function livingOf<T extends Pick<Attempt, 'deadAt'>>(attempts: readonly T[]): T[] {
  return attempts.filter(({ deadAt }) => deadAt === null);
}
