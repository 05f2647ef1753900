import type { Curve, KeyMaterial } from '../signer.ts';

/** What is said to the thread that keeps the keys, and what it says. Keys and questions have numbers that are never used again. */

/** A signature over a payload; without one, the public key. */
export interface KeyUse {
  key: number;
  curve: Curve;
  payload: Uint8Array | null;
}

export type KeeperOrder =
  | { kind: 'open'; key: number; material: KeyMaterial }
  /** Many in one message: a message of its own for each would cost a tenth of a signature. */
  | { kind: 'use'; uses: KeyUse[] }
  | { kind: 'forget'; key: number }
  /** Wipes every key, and ends the thread. */
  | { kind: 'end' };

export type KeeperReport =
  /** `mark` tells the key apart from every other one, and tells nothing else of it. */
  | { kind: 'opened'; key: number; mark: string }
  | { kind: 'unopened'; key: number; reason: string }
  /** In the order of the uses, each with its bytes or the reason why there are none. */
  | { kind: 'used'; results: KeyResult[] };

export type KeyResult = { bytes: Uint8Array } | { reason: string };
