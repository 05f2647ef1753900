/**
 * The right to act for something that one instance at a time may act for: a lane, a relayer's checks, the pruning.
 * The token is the fence: each taking of the same name has a higher one, and a write under an older one is refused.
 */
export interface Lease {
  readonly name: string;
  readonly token: number;
}

/** What came of asking for a lease; `forMs` is how long another owner has it if it is not renewed. */
export type LeaseAnswer = { kind: 'taken'; lease: Lease } | { kind: 'elsewhere'; forMs: number };

/** The leases that instances on one database take in turns. Time is the database's, so that no clock need agree. */
export interface Leases {
  /** How long a lease lasts from the moment it was taken or renewed, in milliseconds; Infinity where nobody else is. */
  readonly lastsMs: number;
  /** Takes a lease that is free, expired, or this store's own already: the new token ends the older one. */
  acquire(name: string): Promise<LeaseAnswer>;
  /** Starts the time of these anew; resolves with those that had not expired and were not taken by another. */
  renew(leases: readonly Lease[]): Promise<Lease[]>;
  /** Gives them back before their time; one that is held no longer is passed over. */
  release(leases: readonly Lease[]): Promise<void>;
}

/** A write under a lease that has expired, was given back or is another's by now: nothing of it was stored. */
export class LeaseLost extends Error {
  constructor({ name, token }: Lease) {
    super(`The lease ${name} (token ${token}) is held no longer`);
    this.name = 'LeaseLost';
  }
}
