import type { AccountEntry, AccountId, Entry, Kind } from './entry.ts';
import { keyOf, keys } from './entry-key.ts';

/** An entry, with the ledger that last changed it. */
export interface Stored<E extends Entry = Entry> {
  readonly entry: E;
  readonly modified: number;
}

/** Entries at one moment. */
export interface Reader {
  get(key: string): Stored | undefined;
  /** In no particular order. */
  all<K extends Kind>(kind: K): Iterable<Extract<Entry, { kind: K }>>;
}

export interface Change {
  readonly key: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** Changes on top of another state, until they are applied or dropped: stellar-core's `LedgerTxn`. */
export class State implements Reader {
  readonly ledger: number;
  /** Who keeps the reserves of what an account makes now, within one transaction (CAP-33). */
  readonly sponsors: Map<AccountId, AccountId>;
  readonly #below: Reader;
  readonly #changed = new Map<string, Stored | undefined>();

  constructor(below: Reader, ledger: number, sponsors = new Map<AccountId, AccountId>()) {
    this.#below = below;
    this.ledger = ledger;
    this.sponsors = sponsors;
  }

  get(key: string): Stored | undefined {
    return this.#changed.has(key) ? this.#changed.get(key) : this.#below.get(key);
  }

  *all<K extends Kind>(kind: K): Iterable<Extract<Entry, { kind: K }>> {
    const isOne = (entry: Entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind;
    for (const entry of this.#below.all(kind)) if (!this.#changed.has(keyOf(entry))) yield entry;
    for (const stored of this.#changed.values()) if (stored !== undefined && isOne(stored.entry)) yield stored.entry;
  }

  put(entry: Entry): void {
    this.#changed.set(keyOf(entry), { entry, modified: this.ledger });
  }

  remove(key: string): void {
    this.#changed.set(key, undefined);
  }

  /** A new layer on top of this one. */
  above(): State {
    return new State(this, this.ledger, this.sponsors);
  }

  /** The same for a further transaction, which begins without sponsorships. */
  forTransaction(): State {
    return new State(this, this.ledger);
  }

  changes(): Change[] {
    return [...this.#changed]
      .map(([key, after]) => ({ key, before: this.#below.get(key), after }))
      .filter(({ before, after }) => before !== after);
  }

  /** Applies the changes of a layer on top. */
  take(above: State): void {
    for (const { key, after } of above.changes()) this.#changed.set(key, after);
  }
}

export function accountIn(state: Reader, id: AccountId): AccountEntry | undefined {
  return state.get(keys.account(id))?.entry as AccountEntry | undefined;
}
