import type { Curve, KeyMaterial } from '../signer.ts';

/** The messages to and from the thread that keeps the keys. Numbers of keys and of requests are never used again. */

/** Asks for a signature over the payload. Without a payload, for the public key. */
export interface KeyUse {
  key: number;
  curve: Curve;
  payload: Uint8Array | null;
}

export type KeeperOrder =
  | { kind: 'open'; key: number; material: KeyMaterial }
  /** Many uses in one message. A message for each use would cost a tenth of a signature. */
  | { kind: 'use'; uses: KeyUse[] }
  | { kind: 'forget'; key: number }
  /** Wipes every key, and ends the thread. */
  | { kind: 'end' };

export type KeeperReport =
  /** `mark` tells the key apart from every other one. It tells nothing else of the key. */
  | { kind: 'opened'; key: number; mark: string }
  | { kind: 'unopened'; key: number; reason: string }
  /** In the order of the uses, each with its bytes or the reason why there are none. */
  | { kind: 'used'; results: KeyResult[] };

export type KeyResult = { bytes: Uint8Array } | { reason: string };
