import { z } from 'zod';

/** The value of an `Idempotency-Key` header: 1 to 255 visible ASCII characters (RFC 9110, 5.5), compared as they are. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/** How long a key is remembered after its first use, in milliseconds; longer while a transaction of it is open. */
export const IDEMPOTENCY_KEEP_MS = 24 * 3_600_000;

/** A request that its client may repeat: a repeat is one with the same scope, key and fingerprint. */
export interface KeyedRequest {
  /** Whose key it is: the id of the caller's API key. */
  readonly scope: string;
  readonly key: string;
  /** A hash of what is asked for. */
  readonly fingerprint: string;
}

/** The right to run a keyed request: `id` stays over all runs of it, `token` rises with each. */
export interface Claim {
  readonly id: string;
  readonly token: number;
}

/** An answer as it was sent; `body` is null when it was too large to be kept. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string | null;
}

/** What tells one effect of a keyed request from its others. */
export interface EffectName {
  /** A hash of what the effect is. */
  readonly payloadHash: string;
  /** Counts the effects of one run that have the same payload, from 0. */
  readonly occurrence: number;
}

/**
 * One effect that a run of a keyed request asks for. Its name is unique under the claim and written in the commit of the
 * effect, so that however often the request runs, and in whatever order it asks, the effect happens once.
 */
export interface Effect extends EffectName {
  /** The run's: one that was taken over has no effect any more. */
  readonly claim: Claim;
  /**
   * True in a plugin call: what comes of the effect decides what the call does next, so that a refusal is an outcome
   * too. A request that is nothing but its one effect may be tried again after a refusal.
   */
  readonly isStep: boolean;
}
