import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../../src/store/lease.ts';
import type { Store } from '../../src/store/store.ts';

interface Holding {
  owner: number;
  token: number;
  expiresAt: number;
}

/** The leases of several engines over one embedded store, with the rules of leases on a database server. */
export class InstanceLeases {
  readonly #lastsMs: number;
  readonly #holdings = new Map<string, Holding>();
  readonly #commits = new Set<Promise<unknown>>();
  readonly #gone = new Set<number>();
  readonly #ownerOf = new WeakMap<Store, number>();
  #owners = 0;
  #tokens = 0;

  constructor(lastsMs: number) {
    this.#lastsMs = lastsMs;
  }

  /** The store as a further instance sees it. */
  storeFor(store: Store): Store {
    this.#owners += 1;
    const instance: Store = {
      ...store,
      leases: this.#leasesOf(this.#owners),
      writeUnder: (lease, body) =>
        this.#underway(
          store.write((writer) => {
            if (!this.#isHeld(lease)) throw new LeaseLost(lease);
            return body(writer);
          }),
        ),
    };
    this.#ownerOf.set(instance, this.#owners);
    return instance;
  }

  /** Ends the time of all leases of an instance that is gone. */
  lapse(instance: Store): void {
    const owner = this.#ownerOf.get(instance) ?? 0;
    this.#gone.add(owner);
    for (const [name, holding] of this.#holdings) {
      if (holding.owner === owner) this.#holdings.delete(name);
    }
  }

  async #underway<T>(commit: Promise<T>): Promise<T> {
    this.#commits.add(commit);
    try {
      return await commit;
    } finally {
      this.#commits.delete(commit);
    }
  }

  #leasesOf(owner: number): Leases {
    return {
      lastsMs: this.#lastsMs,
      acquire: async (name): Promise<LeaseAnswer> => {
        // The previous owner may have a running commit. A database server holds the lease's row until that commit ends.
        await Promise.allSettled(this.#commits);
        if (this.#gone.has(owner)) return { kind: 'elsewhere', forMs: this.#lastsMs };
        const held = this.#holdings.get(name);
        const forMs = (held?.expiresAt ?? 0) - performance.now();
        if (held !== undefined && held.owner !== owner && forMs > 0) return { kind: 'elsewhere', forMs };
        this.#tokens += 1;
        this.#holdings.set(name, { owner, token: this.#tokens, expiresAt: performance.now() + this.#lastsMs });
        return { kind: 'taken', lease: { name, token: this.#tokens } };
      },
      renew: async (leases) => {
        const kept = leases.filter((lease) => this.#isHeld(lease));
        for (const { name, token } of kept) {
          this.#holdings.set(name, { owner, token, expiresAt: performance.now() + this.#lastsMs });
        }
        return kept;
      },
      release: async (leases) => {
        for (const lease of leases) {
          if (this.#isHeld(lease)) this.#holdings.delete(lease.name);
        }
      },
    };
  }

  #isHeld({ name, token }: Lease): boolean {
    const held = this.#holdings.get(name);
    return held?.token === token && held.expiresAt > performance.now();
  }
}
