import type { Fault } from '../counterpart/faults.ts';

/** How the chain is made. Absent: the value in brackets. */
export interface SvmOptions {
  /** Milliseconds between two blocks [100]; 0 makes blocks only when told to. */
  slotMs?: number;
  /** Blocks that must follow for `confirmed` [1] and `finalized` [6]; mainnet has about 2 and 32. */
  confirmedAfter?: number;
  finalizedAfter?: number;
  /** The number of blocks for which a blockhash is valid [150]. */
  blockhashLife?: number;
}

export const SVM_DEFAULTS: Required<SvmOptions> = {
  slotMs: 100,
  confirmedAfter: 1,
  finalizedAfter: 6,
  blockhashLife: 150,
};

/** A transaction that is on the chain. */
export interface OnChain {
  signature: string;
  slot: number;
  /** The error; null if the transaction succeeded. */
  err: unknown;
}

/** A command to the server's process. `endpoint` is the index of an endpoint, in the order of opening. */
export type Command =
  | { kind: 'fund'; key: string; lamports: string }
  | { kind: 'write'; key: string; lamports: string; data: string; owner: string }
  | { kind: 'program'; key: string; bytes: string }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'tick'; blocks: number }
  | { kind: 'skip'; slots: number }
  | { kind: 'drop'; count: number }
  | { kind: 'delay'; blocks: number }
  | { kind: 'fork'; blocks: number; again: boolean }
  | { kind: 'prioritization-fee'; microLamports: number; key?: string }
  | { kind: 'open'; behind: number }
  | { kind: 'behind'; endpoint: number; blocks: number }
  | { kind: 'illness'; endpoint: number; illness: number | 'unknown' | null }
  | { kind: 'prune'; endpoint: number }
  | { kind: 'fault'; endpoint: number; fault: Fault }
  | { kind: 'clear-faults'; endpoint: number }
  | { kind: 'landed' }
  | { kind: 'offers'; endpoint: number }
  | { kind: 'calls'; endpoint: number };
