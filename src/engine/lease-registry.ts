import { EndablePause } from '../domain/endable-pause.ts';
import type { Log } from '../observability/log.ts';
import type { Lease } from '../store/lease.ts';
import type { Store, StoreWriter, WriteOptions } from '../store/store.ts';

/** Renewals in the life of a lease. One lost or late renewal does not end the lease. */
const RENEWALS_PER_LEASE = 4;

export interface LeaseRegistryDeps {
  store: Pick<Store, 'leases' | 'writeUnder'>;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  log: Log;
}

/** A lease that this instance has and renews until it gives it back or loses it. */
export interface HeldLease {
  readonly name: string;
  /** {@link Lease.token}. */
  readonly token: number;
  /**
   * Whether the lease is still ours by this machine's clock, without asking the store. It avoids work that would be
   * refused. The store itself prevents writes under a lost lease.
   */
  isLive(): boolean;
  /** Writes under the lease. Throws LeaseLost when another instance has it by now. */
  write<T>(body: (writer: StoreWriter) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Gives the lease back. Safe to call twice. */
  release(): Promise<void>;
}

interface Entry {
  lease: Lease;
  held: HeldLease;
  /** Counted from before the request to the store, so that the lease ends here no later than there. */
  liveUntil: number;
}

/** All leases of this instance, and what it knows of other instances' leases. */
export class LeaseRegistry {
  readonly #deps: LeaseRegistryDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #acquiring = new Map<string, Promise<HeldLease | undefined>>();
  /** Until when other instances have their leases, if they do not renew them. */
  readonly #elsewhere = new Map<string, number>();
  readonly #pause = new EndablePause();
  #renewing: Promise<void> | null = null;
  #closed = false;

  constructor(deps: LeaseRegistryDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the lease, and takes it unless another instance has it. Does not ask the store while the lease is held
   * here, or known to be held elsewhere.
   */
  async hold(name: string): Promise<HeldLease | undefined> {
    const entry = this.#entries.get(name);
    if (entry?.held.isLive()) return entry.held;
    if (this.#closed || this.elsewhereMs(name) > 0) return undefined;
    const acquiring = this.#acquiring.get(name) ?? this.#take(name).finally(() => this.#acquiring.delete(name));
    this.#acquiring.set(name, acquiring);
    return acquiring;
  }

  /** For how long another instance was last known to have the lease, in milliseconds. */
  elsewhereMs(name: string): number {
    return Math.max((this.#elsewhere.get(name) ?? 0) - this.#deps.elapsed(), 0);
  }

  /** When the first of the leases of other instances ends, unless it is renewed, in milliseconds. */
  get freeAgainMs(): number {
    const now = this.#deps.elapsed();
    let first = Number.POSITIVE_INFINITY;
    for (const [name, until] of this.#elsewhere) {
      if (until <= now) this.#elsewhere.delete(name);
      else first = Math.min(first, until - now);
    }
    return first;
  }

  /** Forgets that another instance has the lease: the next {@link hold} asks the store. */
  askAgain(name: string): void {
    this.#elsewhere.delete(name);
  }

  /** Whether this instance has the lease. */
  has(name: string): boolean {
    return this.#entries.get(name)?.held.isLive() === true;
  }

  /** How many leases this instance has. */
  get size(): number {
    return this.#entries.size;
  }

  /** Gives everything back and takes no more. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await Promise.allSettled([this.#renewing, ...this.#acquiring.values()]);
    await Promise.all([...this.#entries.values()].map(({ held }) => held.release()));
  }

  async #take(name: string): Promise<HeldLease | undefined> {
    const { store, elapsed, log } = this.#deps;
    const requestedAt = elapsed();
    const answer = await store.leases.acquire(name);
    if (answer.kind === 'elsewhere') {
      this.#entries.delete(name);
      this.#elsewhere.set(name, elapsed() + answer.forMs);
      return undefined;
    }
    const { lease } = answer;
    const entry: Entry = { lease, held: this.#heldFor(lease), liveUntil: requestedAt + store.leases.lastsMs };
    this.#entries.set(name, entry);
    this.#elsewhere.delete(name);
    log.debug({ lease: name, token: lease.token }, 'lease taken');
    if (Number.isFinite(store.leases.lastsMs)) this.#renewing ??= this.#renew();
    return entry.held;
  }

  #heldFor(lease: Lease): HeldLease {
    const { store, elapsed } = this.#deps;
    const current = () => {
      const entry = this.#entries.get(lease.name);
      return entry?.lease === lease ? entry : undefined;
    };
    return {
      name: lease.name,
      token: lease.token,
      isLive: () => (current()?.liveUntil ?? 0) > elapsed(),
      write: (body, options) => store.writeUnder(lease, body, options),
      release: async () => {
        if (current() === undefined) return;
        this.#entries.delete(lease.name);
        await this.#giveBack(lease);
      },
    };
  }

  /** Gives a lease back. If that fails, the lease expires. */
  async #giveBack(lease: Lease): Promise<void> {
    const { store, log } = this.#deps;
    await store.leases.release([lease]).catch((error: unknown) => {
      log.debug({ err: error, lease: lease.name }, 'lease not given back');
    });
  }

  async #renew(): Promise<void> {
    const { store, elapsed, log } = this.#deps;
    const { lastsMs } = store.leases;
    for (;;) {
      await this.#pause.last(lastsMs / RENEWALS_PER_LEASE);
      if (this.#closed) return;
      const entries = [...this.#entries.values()];
      const requestedAt = elapsed();
      try {
        const renewed = new Set(await store.leases.renew(entries.map(({ lease }) => lease)));
        for (const entry of entries) {
          if (renewed.has(entry.lease)) entry.liveUntil = requestedAt + lastsMs;
          else this.#drop(entry);
        }
      } catch (error) {
        log.warn({ err: error, leases: entries.length }, 'leases could not be renewed');
      }
    }
  }

  #drop(entry: Entry): void {
    const { name } = entry.lease;
    // The lease was given back or taken again while the renewal was under way.
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#deps.log.warn({ lease: name }, 'lease lost');
  }
}
