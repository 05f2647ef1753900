/**
 * The moments in a transaction's life, in their usual order. Something lasting happens between each two. When the
 * process ends at any of them, no accepted transaction may be lost or doubled.
 */
export const LIFE_STEPS = [
  /** The lane has found the transaction. */
  'found',
  /** Its price is known; nothing is stored yet. */
  'priced',
  /** Its sequence is chosen, nothing signed. */
  'reserved',
  /** Signed bytes exist in memory only. */
  'signed',
  /** The bytes are on disk; no node has them. */
  'written',
  /** A node has answered; the answer is not on disk. */
  'offered',
  /** What nodes answered is on disk. */
  'noted',
  /** An intent of the client was read and is not yet carried out. */
  'intent-read',
  /** A further attempt is signed, in memory only. */
  'further-signed',
  /** A further attempt is on disk; no node has it. */
  'further-written',
  /** The chain was asked; what it showed is not on disk. */
  'observed',
  /** What the chain showed is on disk. */
  'settled',
] as const;

export type LifeStep = (typeof LIFE_STEPS)[number];
