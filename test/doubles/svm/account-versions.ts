import type { NativeAccount } from './native.ts';

/** The runtime's accounts, as far as versions need them. A missing account is null. */
export interface CurrentAccounts {
  read(key: string): NativeAccount | null;
  write(key: string, account: NativeAccount | null): void;
}

interface Version {
  /** The height of the block that replaced this version. */
  readonly height: number;
  readonly account: NativeAccount | null;
}

/** Earlier versions of accounts. Older commitments read them, and a fork restores them. */
export class AccountVersions {
  readonly #current: CurrentAccounts;
  /** Ascending by height. */
  readonly #versions = new Map<string, Version[]>();

  constructor(current: CurrentAccounts) {
    this.#current = current;
  }

  /** To be called before the block of this height writes the account. */
  keep(key: string, height: number): void {
    const versions = this.#versions.get(key) ?? [];
    if (versions.at(-1)?.height === height) return;
    versions.push({ height, account: this.#current.read(key) });
    this.#versions.set(key, versions);
  }

  /** The account after the block of this height. */
  at(key: string, height: number): NativeAccount | null {
    const next = this.#versions.get(key)?.find((version) => version.height > height);
    return next === undefined ? this.#current.read(key) : next.account;
  }

  /** Every account that had another state at some commitment. */
  changed(): string[] {
    return [...this.#versions.keys()];
  }

  /** Runs with accounts as they were after a block. */
  during<T>(keys: readonly string[], height: number, run: () => T): T {
    const changed = keys.filter((key) => this.#versions.get(key)?.some((version) => version.height > height));
    const current = changed.map((key) => [key, this.#current.read(key)] as const);
    for (const key of changed) this.#current.write(key, this.at(key, height));
    try {
      return run();
    } finally {
      for (const [key, account] of current) this.#current.write(key, account);
    }
  }

  /** Undoes every block above this height. */
  rollBack(height: number): void {
    for (const [key, versions] of this.#versions) {
      const first = versions.findIndex((version) => version.height > height);
      if (first < 0) continue;
      this.#current.write(key, versions[first]?.account ?? null);
      versions.splice(first);
    }
  }

  /** Changes the account from outside, now and at every earlier block. */
  edit(key: string, change: (account: NativeAccount | null) => NativeAccount): void {
    this.#current.write(key, change(this.#current.read(key)));
    const versions = this.#versions.get(key) ?? [];
    this.#versions.set(
      key,
      versions.map(({ height, account }) => ({ height, account: change(account) })),
    );
  }

  /** Drops versions that no commitment reads any more. */
  prune(height: number): void {
    for (const [key, versions] of this.#versions) {
      const kept = versions.filter((version) => version.height > height);
      if (kept.length === 0) this.#versions.delete(key);
      else this.#versions.set(key, kept);
    }
  }
}
