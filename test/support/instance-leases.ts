import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../../src/store/lease.ts';
import type { Store } from '../../src/store/store.ts';

interface Holding {
  owner: number;
  token: number;
  expiresAt: number;
}

/** The leases of several engines over one embedded store, with the rules of those that a database server has. */
export class InstanceLeases {
  readonly #lastsMs: number;
  readonly #holdings = new Map<string, Holding>();
  #owners = 0;
  #tokens = 0;

  constructor(lastsMs: number) {
    this.#lastsMs = lastsMs;
  }

  /** The store as one more instance has it. */
  storeFor(store: Store): Store {
    this.#owners += 1;
    return {
      ...store,
      leases: this.#leasesOf(this.#owners),
      writeUnder: (lease, body) =>
        store.write((writer) => {
          if (!this.#isHeld(lease)) throw new LeaseLost(lease);
          return body(writer);
        }),
    };
  }

  #leasesOf(owner: number): Leases {
    return {
      lastsMs: this.#lastsMs,
      acquire: async (name): Promise<LeaseAnswer> => {
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
