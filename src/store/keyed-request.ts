import type { Claim, KeptAnswer } from '../domain/idempotency.ts';
import type { Json } from '../domain/json/json.ts';

/** The stored result of a keyed request's effect. Without an outcome or a failure, the result is unknown. */
export interface StoredEffect {
  /** The transaction that the effect made, or is about. */
  transactionId: string | null;
  outcome?: Json;
  /** The refusal that the run got when it asked for the effect. */
  failure?: Json;
}

/** The fields to store for an effect. Empty while the result is not known. */
export interface EffectNote {
  transactionId?: string;
  outcome?: Json;
  failure?: Json;
  /**
   * True for an effect that leaves nothing behind when its run ends. If the run has only such effects, the key may be
   * used again.
   */
  leavesNothing?: boolean;
  /** Most bytes that the effect's scope may keep. An outcome that exceeds them is not kept. */
  quotaBytes?: number;
}

/** The instance that asks to run a keyed request. */
export interface Claimant {
  /** Id for the claim, if the key is new. */
  id: string;
  /** Identifies the instance, with a new value at each start. */
  owner: string;
  /** How long the claim lasts without renewal. */
  forMs: number;
  /** True when no other process uses the store. Runs of other owners are then over. */
  isAlone: boolean;
}

/** The answer to a request to run a keyed request. */
export type KeyState =
  | { kind: 'claimed'; claim: Claim }
  | { kind: 'running' }
  | { kind: 'answered'; answer: KeptAnswer }
  | { kind: 'other-request' };
