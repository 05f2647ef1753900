/**
 * The moments in a transaction's life between which something lasting happens, in their usual order. Nothing that is
 * accepted may be lost or doubled when the process ends at any of them.
 */
export const LIFE_STEPS = [
  /** The lane has found it. */
  'found',
  /** Its price is known; nothing is stored yet. */
  'priced',
  /** Its sequence is chosen, nothing signed. */
  'reserved',
  /** Signed bytes exist in memory only. */
  'signed',
  /** The bytes are on disk; nobody has them. */
  'written',
  /** A node has answered; the answer is not on disk. */
  'offered',
  /** What nodes answered is on disk. */
  'noted',
  /** An intent of the client was read and is not yet carried out. */
  'intent-read',
  /** A further attempt is signed, in memory only. */
  'further-signed',
  /** A further attempt is on disk; nobody has it. */
  'further-written',
  /** The chain was asked; what it showed is not on disk. */
  'observed',
  /** What the chain showed is on disk. */
  'settled',
] as const;

export type LifeStep = (typeof LIFE_STEPS)[number];
