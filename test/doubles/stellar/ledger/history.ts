import type { Entry, Kind } from './entry.ts';
import type { Change, Reader, Stored } from './state.ts';

interface Version {
  readonly ledger: number;
  readonly stored: Stored | undefined;
}

/** The number of past ledgers that a node may see. */
const KEPT = 64;

/** All entries in the state of each of the last ledgers, for nodes that are behind. */
export class History {
  readonly #versions = new Map<string, Version[]>();
  readonly #kinds = new Map<Kind, Set<string>>();

  record(ledger: number, changes: readonly Change[]): void {
    for (const { key, after } of changes) {
      const versions = this.#versions.get(key) ?? [];
      versions.push({ ledger, stored: after });
      this.#versions.set(key, versions);
      if (after !== undefined) this.#enlist(after.entry.kind, key);
      const keep = versions.findLastIndex((version) => version.ledger <= ledger - KEPT);
      if (keep > 0) versions.splice(0, keep);
    }
  }

  /** Changes an entry in all ledgers at once, without a transaction. */
  edit(key: string, change: (entry: Entry | undefined) => Entry, ledger: number): void {
    const versions = this.#versions.get(key) ?? [];
    const known = versions.length === 0 ? [{ ledger: 0, stored: undefined }] : versions;
    const edited = known.map((version) => {
      const entry = change(version.stored?.entry);
      this.#enlist(entry.kind, key);
      return { ledger: version.ledger, stored: { entry, modified: version.stored?.modified ?? ledger } };
    });
    this.#versions.set(key, edited);
  }

  at(ledger: number): Reader {
    const get = (key: string) => this.#versions.get(key)?.findLast((version) => version.ledger <= ledger)?.stored;
    const kinds = this.#kinds;
    return {
      get,
      *all<K extends Kind>(kind: K): Iterable<Extract<Entry, { kind: K }>> {
        for (const key of kinds.get(kind) ?? []) {
          const stored = get(key);
          if (stored !== undefined) yield stored.entry as Extract<Entry, { kind: K }>;
        }
      },
    };
  }

  #enlist(kind: Kind, key: string): void {
    const known = this.#kinds.get(kind) ?? new Set();
    this.#kinds.set(kind, known.add(key));
  }
}
