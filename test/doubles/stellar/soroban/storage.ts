import { xdr } from '@stellar/stellar-sdk';
import { accountXdr, addressXdr } from '../ledger/address.ts';
import { assetOf } from '../ledger/asset.ts';
import type { AccountId, AssetName, ContractDataEntry, Durability, Entry } from '../ledger/entry.ts';
import { keyOfXdr } from '../ledger/entry-key.ts';
import { toLedgerEntry } from '../ledger/entry-xdr.ts';
import type { State } from '../ledger/state.ts';
import { hostError } from './host-error.ts';
import { SETTINGS } from './settings.ts';

/** Keys of what contracts reach. */
export const ledgerKey = {
  account: (id: AccountId) => xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: accountXdr(id) })),
  trustLine: (id: AccountId, asset: AssetName) =>
    xdr.LedgerKey.trustline(
      new xdr.LedgerKeyTrustLine({ accountId: accountXdr(id), asset: assetOf(asset).toTrustLineXdrObject() }),
    ),
  data: (contract: string, key: xdr.ScVal, durability: Durability) =>
    xdr.LedgerKey.contractData(
      new xdr.LedgerKeyContractData({
        contract: addressXdr(contract),
        key,
        durability: xdr.ContractDataDurability[durability],
      }),
    ),
  instance: (contract: string) => ledgerKey.data(contract, xdr.ScVal.scvLedgerKeyContractInstance(), 'persistent'),
  code: (hash: string) => xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash })),
};

export interface Footprint {
  readonly readOnly: readonly xdr.LedgerKey[];
  readonly readWrite: readonly xdr.LedgerKey[];
  /** Indexes in `readWrite` of archived entries that are restored automatically. */
  readonly archived: readonly number[];
}

type Mode = { kind: 'recording' } | { kind: 'enforcing'; footprint: Footprint };

interface Touched {
  readonly key: xdr.LedgerKey;
  isWritten: boolean;
  isRestored: boolean;
}

/** The entries that contracts can access. A simulation records each of them. A ledger has only the declared ones. */
export class Storage {
  readonly state: State;
  readonly #mode: Mode;
  readonly #touched = new Map<string, Touched>();

  constructor(state: State, mode: Mode) {
    this.state = state;
    this.#mode = mode;
    if (mode.kind === 'recording') return;
    const { readOnly, readWrite, archived } = mode.footprint;
    for (const key of readOnly) this.#note(key, false);
    for (const [index, key] of readWrite.entries()) {
      this.#note(key, true);
      if (archived.includes(index)) this.#restore(key);
    }
  }

  get(key: xdr.LedgerKey): Entry | undefined {
    this.#reach(key, false);
    return this.#live(key);
  }

  put(entry: Entry, key: xdr.LedgerKey): void {
    this.#reach(key, true);
    this.state.put(entry);
  }

  remove(key: xdr.LedgerKey): void {
    this.#reach(key, true);
    this.state.remove(nameOf(key));
  }

  /** Accesses an entry that does not belong to a contract, so that the ledger's own rules may change it. */
  reachForWriting(key: xdr.LedgerKey): void {
    this.#reach(key, true);
  }

  data(contract: string, key: xdr.ScVal, durability: Durability): xdr.ScVal | undefined {
    const entry = this.get(ledgerKey.data(contract, key, durability)) as ContractDataEntry | undefined;
    return entry && xdr.ScVal.fromXdr(entry.value, 'base64');
  }

  /**
   * Writes a contract's data. A new entry gets the shortest lifetime, or lives until a given ledger if that is later.
   */
  putData(contract: string, key: xdr.ScVal, durability: Durability, val: xdr.ScVal, until = 0): void {
    const place = ledgerKey.data(contract, key, durability);
    const known = this.get(place) as ContractDataEntry | undefined;
    const { leastPersistent, leastTemporary } = SETTINGS.life;
    const least = this.state.ledger + (durability === 'persistent' ? leastPersistent : leastTemporary) - 1;
    const liveUntil = Math.max(known?.liveUntil ?? least, until);
    const entry = { kind: 'contract-data', contract, key: key.toXdr('base64'), durability } as const;
    this.put({ ...entry, value: val.toXdr('base64'), liveUntil }, place);
  }

  /** Extends an entry's lifetime if less than a threshold is left. Read access is enough. */
  extend(key: xdr.LedgerKey, threshold: number, extendTo: number): void {
    const entry = this.get(key);
    if (entry === undefined || !('liveUntil' in entry)) return;
    if (entry.liveUntil - this.state.ledger > threshold) return;
    this.state.put({ ...entry, liveUntil: Math.max(entry.liveUntil, this.state.ledger + extendTo) });
  }

  /** The footprint that a simulation has recorded. */
  footprint(): Footprint {
    const all = [...this.#touched.values()];
    const readWrite = all.filter(({ isWritten }) => isWritten);
    return {
      readOnly: all.filter(({ isWritten }) => !isWritten).map(({ key }) => key),
      readWrite: readWrite.map(({ key }) => key),
      archived: readWrite.flatMap(({ isRestored }, index) => (isRestored ? [index] : [])),
    };
  }

  #reach(key: xdr.LedgerKey, forWriting: boolean): void {
    const known = this.#touched.get(nameOf(key));
    if (this.#mode.kind === 'recording') {
      if (known === undefined) this.#note(key, forWriting);
      else known.isWritten ||= forWriting;
      return;
    }
    if (known === undefined) {
      throw hostError('Storage', 'ExceededLimit', 'trying to access entry outside of the footprint');
    }
    if (forWriting && !known.isWritten) {
      throw hostError('Storage', 'ExceededLimit', 'trying to write an entry that is read-only in the footprint');
    }
  }

  #note(key: xdr.LedgerKey, isWritten: boolean): void {
    this.#touched.set(nameOf(key), { key, isWritten, isRestored: false });
  }

  /**
   * Returns an entry that is live. An expired temporary entry is gone. An expired persistent entry is restored in a
   * simulation.
   */
  #live(key: xdr.LedgerKey): Entry | undefined {
    const entry = this.state.get(nameOf(key))?.entry;
    if (entry === undefined || !isOver(entry, this.state.ledger)) return entry;
    if (entry.kind === 'contract-data' && entry.durability === 'temporary') return undefined;
    if (this.#mode.kind === 'enforcing') throw new ArchivedEntry();
    this.#restore(key);
    return this.state.get(nameOf(key))?.entry;
  }

  #restore(key: xdr.LedgerKey): void {
    const entry = this.state.get(nameOf(key))?.entry;
    if (entry === undefined || !isOver(entry, this.state.ledger)) return;
    this.state.put({ ...entry, liveUntil: this.state.ledger + SETTINGS.life.leastPersistent - 1 } as Entry);
    this.#touched.set(nameOf(key), { key, isWritten: true, isRestored: true });
  }
}

/** Thrown when the footprint names an entry that has to be restored first. */
class ArchivedEntry extends Error {}

export function isOver(entry: Entry, ledger: number): boolean {
  return 'liveUntil' in entry && entry.liveUntil < ledger;
}

export const sizeOf = (entry: Entry): number => toLedgerEntry(entry, 0).toXdr().length;

export const nameOf = (key: xdr.LedgerKey): string => keyOfXdr(key) ?? key.toXdr('base64');
