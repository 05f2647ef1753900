/**
 * The right to act for something that only one instance at a time may act for: a lane, a relayer's checks, the pruning.
 * The token is the fence. Each time a name is taken, its token is higher, and a write under an older token is refused.
 */
export interface Lease {
  readonly name: string;
  readonly token: number;
}

/** The answer to a request for a lease. `forMs` is how long another owner keeps it without renewal, in milliseconds. */
export type LeaseAnswer = { kind: 'taken'; lease: Lease } | { kind: 'elsewhere'; forMs: number };

/**
 * The leases that instances on one database take in turns. They use the database's time, so instances' clocks need not
 * agree.
 */
export interface Leases {
  /**
   * How long a lease lasts after it was taken or renewed, in milliseconds. Infinity where there are no other instances.
   */
  readonly lastsMs: number;
  /** Takes a lease that is free, expired, or already this store's own. The new token makes the older one invalid. */
  acquire(name: string): Promise<LeaseAnswer>;
  /** Renews leases. Resolves with those that had not expired and were not taken by another instance. */
  renew(leases: readonly Lease[]): Promise<Lease[]>;
  /** Releases leases early. Skips leases that are no longer held. */
  release(leases: readonly Lease[]): Promise<void>;
}

/**
 * A write was refused, as its lease has expired, was released, or was taken by another instance. Nothing was stored.
 */
export class LeaseLost extends Error {
  constructor({ name, token }: Lease) {
    super(`The lease ${name} (token ${token}) is held no longer`);
    this.name = 'LeaseLost';
  }
}
