import type { Fault } from '../counterpart/faults.ts';
import type { ContractKind } from './soroban/contracts/registry.ts';

/** How the network is made. Absent: the value in brackets. */
export interface StellarOptions {
  /** [`Isolayer Test Network`] */
  passphrase?: string;
  /** From one ledger to the next [100]; 0 stands still until it is told to go on. */
  ledgerMs?: number;
  /** Operations that a ledger takes [1000]. */
  maxOperations?: number;
  /** Contracts' transactions that a ledger takes [100]. */
  maxSoroban?: number;
  /** Ledgers that a node's history holds [17280, a day's]. */
  retention?: number;
  /** The number of the first ledger [58000000, so that no sequence fits into a double]. */
  firstLedger?: number;
}

export const STELLAR_DEFAULTS: Required<StellarOptions> = {
  passphrase: 'Isolayer Test Network',
  ledgerMs: 100,
  maxOperations: 1000,
  maxSoroban: 100,
  retention: 17_280,
  firstLedger: 58_000_000,
};

/** A transaction that is on the chain. */
export interface OnChain {
  /** Of the envelope that was offered. */
  hash: string;
  /** Base64. */
  envelope: string;
  /** Of the transaction within, which is the same where there is no fee bump. */
  innerHash: string;
  ledger: number;
  source: string;
  sequence: bigint;
  feeSource: string;
  feeCharged: bigint;
  /** `txSuccess`, `txFailed`, `txFeeBumpInnerSuccess` … */
  code: string;
  isSuccessful: boolean;
}

/** What the handle asks of the server's process. `endpoint` is a place in the order in which endpoints were opened. */
export type Command =
  | { kind: 'fund'; account: string; stroops: bigint }
  | { kind: 'asset-contract'; asset: string }
  | { kind: 'contract'; contract: ContractKind; args: readonly string[] }
  | { kind: 'archive'; key: string }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'tick'; ledgers: number }
  | { kind: 'travel'; seconds: number }
  | { kind: 'drop'; count: number }
  | { kind: 'delay'; ledgers: number }
  | { kind: 'crowd'; operations: number; bid: bigint }
  | { kind: 'reset' }
  | { kind: 'open'; behind: number }
  | { kind: 'behind'; endpoint: number; ledgers: number }
  | { kind: 'illness'; endpoint: number; illness: string | null }
  | { kind: 'passphrase'; endpoint: number; passphrase: string }
  | { kind: 'prune'; endpoint: number }
  | { kind: 'fault'; endpoint: number; fault: Fault }
  | { kind: 'clear-faults'; endpoint: number }
  | { kind: 'landed' }
  | { kind: 'taken-in' }
  | { kind: 'offers'; endpoint: number }
  | { kind: 'calls'; endpoint: number };

/** Where one node is reached. */
export interface Addresses {
  url: string;
  horizonUrl: string;
}
