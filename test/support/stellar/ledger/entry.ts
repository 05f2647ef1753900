/** A key as text: `G…`. */
export type AccountId = string;
/** `native` or `CODE:ISSUER`, which is one text for one asset. */
export type AssetName = string;

export interface Thresholds {
  master: number;
  low: number;
  medium: number;
  high: number;
}

export interface Signer {
  /** The XDR of a `SignerKey` in base64. */
  key: string;
  weight: number;
}

export interface Liabilities {
  buying: bigint;
  selling: bigint;
}

export interface Price {
  n: number;
  d: number;
}

/** Entries are never changed in place: whoever changes one puts another. */
export interface AccountEntry {
  readonly kind: 'account';
  readonly id: AccountId;
  readonly balance: bigint;
  readonly sequence: bigint;
  readonly subEntries: number;
  readonly inflationDestination: AccountId | null;
  readonly flags: number;
  readonly homeDomain: string;
  readonly thresholds: Readonly<Thresholds>;
  /** In the order of their keys, as the network keeps them. */
  readonly signers: readonly Signer[];
  readonly liabilities: Readonly<Liabilities>;
  /** When the sequence was last raised (CAP-21). */
  readonly sequenceLedger: number;
  readonly sequenceTime: bigint;
}

export interface TrustLineEntry {
  readonly kind: 'trust-line';
  readonly account: AccountId;
  readonly asset: AssetName;
  readonly balance: bigint;
  readonly limit: bigint;
  readonly flags: number;
  readonly liabilities: Readonly<Liabilities>;
}

export interface OfferEntry {
  readonly kind: 'offer';
  readonly seller: AccountId;
  readonly id: bigint;
  readonly selling: AssetName;
  readonly buying: AssetName;
  readonly amount: bigint;
  readonly price: Readonly<Price>;
  readonly flags: number;
}

export interface DataEntry {
  readonly kind: 'data';
  readonly account: AccountId;
  readonly name: string;
  /** In base64. */
  readonly value: string;
}

export type Durability = 'persistent' | 'temporary';

export interface ContractDataEntry {
  readonly kind: 'contract-data';
  /** `C…` */
  readonly contract: string;
  /** The XDR of an `ScVal` in base64, as the value. */
  readonly key: string;
  readonly durability: Durability;
  readonly value: string;
  /** The last ledger in which the entry is live. */
  readonly liveUntil: number;
}

export interface ContractCodeEntry {
  readonly kind: 'contract-code';
  /** In hexadecimal. */
  readonly hash: string;
  /** In base64. */
  readonly code: string;
  readonly liveUntil: number;
}

export type Entry = AccountEntry | TrustLineEntry | OfferEntry | DataEntry | ContractDataEntry | ContractCodeEntry;
export type Kind = Entry['kind'];

/** What a ledger knows of itself and its rules. */
export interface Header {
  readonly sequence: number;
  /** Unix seconds. */
  readonly closeTime: bigint;
  /** In stroops, an operation. */
  readonly baseFee: bigint;
  /** In stroops, a sub-entry. */
  readonly baseReserve: bigint;
}

export const NATIVE: AssetName = 'native';
export const MAX_INT64 = 2n ** 63n - 1n;

/** Flags of accounts and trust lines, as in the protocol's XDR. */
export const ACCOUNT_FLAGS = { required: 1, revocable: 2, immutable: 4, clawback: 8 } as const;
export const LINE_FLAGS = { authorized: 1, maintains: 2, clawback: 4 } as const;
export const PASSIVE_OFFER = 1;

/** The first sequence of an account that a ledger makes; no account made again falls back behind itself. */
export function startingSequence(ledger: number): bigint {
  return BigInt(ledger) << 32n;
}
