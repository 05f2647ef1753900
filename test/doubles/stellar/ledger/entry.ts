/** An account's public key as text: `G…`. */
export type AccountId = string;
/** `native` or `CODE:ISSUER`. Each asset has one name. */
export type AssetName = string;

export interface Thresholds {
  master: number;
  low: number;
  medium: number;
  high: number;
}

export interface Signer {
  /** A `SignerKey` as XDR in base64. */
  key: string;
  weight: number;
  /** Who keeps its reserve, if that is not the account (CAP-33). */
  sponsor?: AccountId;
}

export interface Liabilities {
  buying: bigint;
  selling: bigint;
}

export interface Price {
  n: number;
  d: number;
}

/** An entry whose reserve another account may keep (CAP-33). */
interface Sponsored {
  readonly sponsor?: AccountId;
}

/** Entries are immutable. To change one, put a new one. */
export interface AccountEntry extends Sponsored {
  readonly kind: 'account';
  readonly id: AccountId;
  readonly balance: bigint;
  readonly sequence: bigint;
  readonly subEntries: number;
  /** Base reserves that others keep for it, and that it keeps for others. */
  readonly sponsored: number;
  readonly sponsoring: number;
  readonly inflationDestination: AccountId | null;
  readonly flags: number;
  readonly homeDomain: string;
  readonly thresholds: Readonly<Thresholds>;
  /** Sorted by key, as in the network. */
  readonly signers: readonly Signer[];
  readonly liabilities: Readonly<Liabilities>;
  /** The ledger in which the sequence was last raised (CAP-21). */
  readonly sequenceLedger: number;
  readonly sequenceTime: bigint;
}

export interface TrustLineEntry extends Sponsored {
  readonly kind: 'trust-line';
  readonly account: AccountId;
  readonly asset: AssetName;
  readonly balance: bigint;
  readonly limit: bigint;
  readonly flags: number;
  readonly liabilities: Readonly<Liabilities>;
}

export interface OfferEntry extends Sponsored {
  readonly kind: 'offer';
  readonly seller: AccountId;
  readonly id: bigint;
  readonly selling: AssetName;
  readonly buying: AssetName;
  readonly amount: bigint;
  readonly price: Readonly<Price>;
  readonly flags: number;
}

export interface DataEntry extends Sponsored {
  readonly kind: 'data';
  readonly account: AccountId;
  readonly name: string;
  /** Base64. */
  readonly value: string;
}

export interface ClaimableBalanceEntry {
  readonly kind: 'claimable-balance';
  /** A `ClaimableBalanceID` as XDR in base64. */
  readonly id: string;
  /** The predicate as XDR in base64. */
  readonly claimants: readonly { readonly id: AccountId; readonly predicate: string }[];
  readonly asset: AssetName;
  readonly amount: bigint;
  /** It always has one. */
  readonly sponsor: AccountId;
}

export type Durability = 'persistent' | 'temporary';

export interface ContractDataEntry {
  readonly kind: 'contract-data';
  /** The contract's address: `C…`. */
  readonly contract: string;
  /** An `ScVal` as XDR in base64, like `value`. */
  readonly key: string;
  readonly durability: Durability;
  readonly value: string;
  /** The last ledger in which the entry is live. */
  readonly liveUntil: number;
}

export interface ContractCodeEntry {
  readonly kind: 'contract-code';
  /** Hexadecimal. */
  readonly hash: string;
  /** Base64. */
  readonly code: string;
  readonly liveUntil: number;
}

export type Entry =
  | AccountEntry
  | TrustLineEntry
  | OfferEntry
  | DataEntry
  | ClaimableBalanceEntry
  | ContractDataEntry
  | ContractCodeEntry;
export type Kind = Entry['kind'];

/** A ledger's header, with the rules that apply in it. */
export interface Header {
  readonly sequence: number;
  /** Unix seconds. */
  readonly closeTime: bigint;
  /** Stroops for each operation. */
  readonly baseFee: bigint;
  /** Stroops for each reserve. */
  readonly baseReserve: bigint;
}

export const NATIVE: AssetName = 'native';
export const MAX_INT64 = 2n ** 63n - 1n;

/** Flags of accounts and trust lines, as in the protocol's XDR. */
export const ACCOUNT_FLAGS = { required: 1, revocable: 2, immutable: 4, clawback: 8 } as const;
export const LINE_FLAGS = { authorized: 1, maintains: 2, clawback: 4 } as const;
export const PASSIVE_OFFER = 1;

/**
 * The first sequence of an account that this ledger creates. An account that is created again never gets an old
 * sequence.
 */
export function startingSequence(ledger: number): bigint {
  return BigInt(ledger) << 32n;
}
