import { type AccountEntry, type AccountId, type Header, MAX_INT64, startingSequence } from './entry.ts';
import { accountIn, type State } from './state.ts';

/** The protocol's limit of an account's sub-entries. */
const MAX_SUB_ENTRIES = 1000;

/** The entry that a `CreateAccount` operation makes. */
export function newAccount(id: AccountId, balance: bigint, ledger: number): AccountEntry {
  return {
    kind: 'account',
    id,
    balance,
    sequence: startingSequence(ledger),
    subEntries: 0,
    sponsored: 0,
    sponsoring: 0,
    inflationDestination: null,
    flags: 0,
    homeDomain: '',
    thresholds: { master: 1, low: 0, medium: 0, high: 0 },
    signers: [],
    liabilities: { buying: 0n, selling: 0n },
    sequenceLedger: 0,
    sequenceTime: 0n,
  };
}

/** Two base reserves for the account, and one for each sub-entry. Whoever sponsors a reserve keeps it (CAP-33). */
function minimumBalance({ baseReserve }: Header, account: AccountEntry): bigint {
  return BigInt(2 + account.subEntries + account.sponsoring - account.sponsored) * baseReserve;
}

/** Reserves of one entry or signer. */
export interface Reserves {
  /** Null for an entry that nobody owns. */
  owner: AccountId | null;
  /** Undefined where the owner keeps them itself. */
  sponsor: AccountId | undefined;
  /** Base reserves; negative where they come free. */
  count: number;
  /** `new`: the entry is made or removed. `moved`: it stays, and only who keeps its reserves changes. */
  kind: 'new' | 'moved';
}

/** Counts reserves with those who keep them. Returns false, and changes nothing, if the keeper has too little. */
export function reserve(state: State, header: Header, { owner, sponsor, count, kind }: Reserves): boolean {
  const keeper = sponsor ?? owner;
  const account = keeper === null ? undefined : accountIn(state, keeper);
  if (account === undefined) throw new Error(`There is no account ${keeper}.`);
  if (count > 0 && availableBalance(header, account) < BigInt(count) * header.baseReserve) return false;
  if (sponsor === undefined) return true;
  state.put({ ...account, sponsoring: account.sponsoring + count });
  const own = owner === null ? undefined : accountIn(state, owner);
  if (own === undefined) {
    if (owner !== null && kind === 'moved') throw new Error(`There is no account ${owner}.`);
    return true;
  }
  state.put({ ...own, sponsored: own.sponsored + count });
  return true;
}

/** The amount that may leave the account: above the reserve and the liabilities of its offers. */
export function availableBalance(header: Header, account: AccountEntry): bigint {
  return account.balance - minimumBalance(header, account) - account.liabilities.selling;
}

/** The amount that may still come in, besides the liabilities of its offers. */
export function roomOf(account: AccountEntry): bigint {
  return MAX_INT64 - account.balance - account.liabilities.buying;
}

/** Returns false if the balance would leave its limits. Then nothing has changed. */
export function addBalance(state: State, header: Header, id: AccountId, delta: bigint): boolean {
  const account = accountIn(state, id);
  if (account === undefined) throw new Error(`There is no account ${id}.`);
  if (delta === 0n) return true;
  if (delta < 0n && -delta > availableBalance(header, account)) return false;
  if (delta > 0n && delta > roomOf(account)) return false;
  state.put({ ...account, balance: account.balance + delta });
  return true;
}

export type Refused = 'low-reserve' | 'too-many';

/** Counts a new sub-entry of an account, or returns the reason why the account may have none. */
export function addSubEntry(state: State, header: Header, id: AccountId): Refused | undefined {
  const account = accountIn(state, id);
  if (account === undefined) throw new Error(`There is no account ${id}.`);
  if (account.subEntries >= MAX_SUB_ENTRIES) return 'too-many';
  const sponsor = state.sponsors.get(id);
  if (!reserve(state, header, { owner: id, sponsor, count: 1, kind: 'new' })) return 'low-reserve';
  const now = accountIn(state, id) ?? account;
  state.put({ ...now, subEntries: now.subEntries + 1 });
  return undefined;
}

/** The sponsor of an entry that the account makes now, as a field of the entry. */
export function sponsoredNow(state: State, id: AccountId): { sponsor?: AccountId } {
  const sponsor = state.sponsors.get(id);
  return sponsor === undefined ? {} : { sponsor };
}

/** @param sponsor who kept the reserve of the entry that is gone */
export function removeSubEntry(state: State, header: Header, id: AccountId, sponsor: AccountId | undefined): void {
  reserve(state, header, { owner: id, sponsor, count: -1, kind: 'new' });
  const account = accountIn(state, id);
  if (account === undefined) throw new Error(`There is no account ${id}.`);
  state.put({ ...account, subEntries: account.subEntries - 1 });
}

/** Raises the sequence, and records the time and the ledger (CAP-21). */
export function raiseSequence(state: State, header: Header, id: AccountId, to: bigint): void {
  const account = accountIn(state, id);
  if (account === undefined) throw new Error(`There is no account ${id}.`);
  const sequence = to > account.sequence ? to : account.sequence;
  state.put({ ...account, sequence, sequenceLedger: header.sequence, sequenceTime: header.closeTime });
}
