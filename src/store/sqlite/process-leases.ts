import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';

/**
 * The leases of a store that only one process uses (`lock.ts`): always free, never expired. Tokens still rise. So a
 * holder that was replaced within the process is refused, as it would be between processes.
 */
export class ProcessLeases implements Leases {
  readonly lastsMs = Number.POSITIVE_INFINITY;
  readonly #tokens = new Map<string, number>();
  #latest = 0;

  async acquire(name: string): Promise<LeaseAnswer> {
    this.#latest += 1;
    this.#tokens.set(name, this.#latest);
    return { kind: 'taken', lease: { name, token: this.#latest } };
  }

  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    return leases.filter((lease) => this.#has(lease));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    for (const lease of leases) {
      if (this.#has(lease)) this.#tokens.delete(lease.name);
    }
  }

  /** @throws LeaseLost unless the lease is held */
  assertHeld(lease: Lease): void {
    if (!this.#has(lease)) throw new LeaseLost(lease);
  }

  #has({ name, token }: Lease): boolean {
    return this.#tokens.get(name) === token;
  }
}
