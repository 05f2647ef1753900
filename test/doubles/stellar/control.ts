import type { Fault } from '../counterpart/faults.ts';
import type { ContractKind } from './soroban/contracts/registry.ts';

/** Settings of the network. The default is in brackets. */
export interface StellarOptions {
  /** [`Isolayer Test Network`] */
  passphrase?: string;
  /** Milliseconds between two ledgers [100]; 0 closes ledgers only when told to. */
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
  /** The hash of the offered envelope. */
  hash: string;
  /** Base64. */
  envelope: string;
  /** The hash of the inner transaction; the same as `hash` without a fee bump. */
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

/** A command to the server's process. `endpoint` is the index of an endpoint, in the order of opening. */
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
  | { kind: 'drop-sets'; ledgers: number }
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

/** The addresses of one node. */
export interface Addresses {
  url: string;
  horizonUrl: string;
}
