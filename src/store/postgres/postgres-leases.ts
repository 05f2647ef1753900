import { type Kysely, sql } from 'kysely';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';
import type { Tables } from '../schema.ts';

/**
 * How soon to ask again for a lease that is free but is being taken, or has a write that is about to end, in
 * milliseconds.
 */
const SHORTLY_MS = 200;

/**
 * A lease with more time left than this, beyond its usual length, was set before the database's clock was set back. In
 * milliseconds.
 */
const BEYOND_ANY_LEASE_MS = 60_000;

/** Milliseconds. Unlike `now()`, this goes on within a transaction: a lease may expire during one. */
const now = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Leases as rows of the database. A row is never deleted, so its token only rises. Taking a lease never waits. While a
 * stopped owner is inside a write, its row is skipped until PostgreSQL ends that write.
 */
export class PostgresLeases implements Leases {
  readonly lastsMs: number;
  readonly #db: Kysely<Tables>;
  readonly #owner: string;

  /** `owner` identifies this instance among those on the database. */
  constructor(db: Kysely<Tables>, owner: string, lastsMs: number) {
    this.#db = db;
    this.#owner = owner;
    this.lastsMs = lastsMs;
  }

  async acquire(name: string): Promise<LeaseAnswer> {
    const held = await this.#db
      .selectFrom('leases')
      .select(['owner', sql<number>`expires_at - ${now}`.as('left')])
      .where('name', '=', name)
      .executeTakeFirst();
    if (held === undefined) return this.#taken(name, await this.#insert(name), this.lastsMs);
    if (held.owner !== this.#owner && held.left > this.lastsMs + BEYOND_ANY_LEASE_MS) {
      // A living owner renews the lease in this time.
      await this.#shorten(name);
      return { kind: 'elsewhere', forMs: this.lastsMs };
    }
    if (held.owner !== this.#owner && held.left > 0) return { kind: 'elsewhere', forMs: held.left };
    return this.#taken(name, await this.#takeOver(name), SHORTLY_MS);
  }

  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    if (leases.length === 0) return [];
    const rows = await this.#db
      .updateTable('leases')
      .set({ expires_at: this.#end })
      .where('owner', '=', this.#owner)
      .where('expires_at', '>', now)
      .where('name', 'in', namesOf(leases))
      .returning(['name', 'token'])
      .execute();
    const tokens = new Map(rows.map(({ name, token }) => [name, token]));
    return leases.filter(({ name, token }) => tokens.get(name) === token);
  }

  async release(leases: readonly Lease[]): Promise<void> {
    for (const { name, token } of leases) {
      await this.#db
        .updateTable('leases')
        .set({ expires_at: 0 })
        .where('name', '=', name)
        .where('token', '=', token)
        .execute();
    }
  }

  /**
   * Checks the lease as the first statement of a transaction. The row stays locked until the transaction ends, so no
   * instance can take the lease over in between. A condition on a write alone would not be enough: it let a stale owner
   * commit after a takeover. The owner is compared too: a server that loses its last commits gives a token again.
   * @throws LeaseLost unless the lease is held
   */
  async assertHeld(transaction: Kysely<Tables>, lease: Lease): Promise<void> {
    const row = await transaction
      .selectFrom('leases')
      .select('token')
      .where('name', '=', lease.name)
      .where('token', '=', lease.token)
      .where('owner', '=', this.#owner)
      .where('expires_at', '>', now)
      .forShare()
      .executeTakeFirst();
    if (row === undefined) throw new LeaseLost(lease);
  }

  get #end() {
    return sql<number>`${now} + ${this.lastsMs}`;
  }

  #taken(name: string, token: number | undefined, forMs: number): LeaseAnswer {
    return token === undefined ? { kind: 'elsewhere', forMs } : { kind: 'taken', lease: { name, token } };
  }

  async #insert(name: string): Promise<number | undefined> {
    const row = await this.#db
      .insertInto('leases')
      .values({ name, owner: this.#owner, token: 1, expires_at: this.#end })
      .onConflict((on) => on.doNothing())
      .returning('token')
      .executeTakeFirst();
    return row?.token;
  }

  async #shorten(name: string): Promise<void> {
    await this.#db
      .updateTable('leases')
      .set({ expires_at: this.#end })
      .where('name', '=', name)
      .where('expires_at', '>', sql<number>`${now} + ${this.lastsMs + BEYOND_ANY_LEASE_MS}`)
      .execute();
  }

  async #takeOver(name: string): Promise<number | undefined> {
    const row = await this.#db
      .with('free', (from) =>
        from
          .selectFrom('leases')
          .select('name')
          .where('name', '=', name)
          .where((on) => on.or([on('expires_at', '<=', now), on('owner', '=', this.#owner)]))
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('leases')
      .from('free')
      .whereRef('leases.name', '=', 'free.name')
      .set((on) => ({ owner: this.#owner, token: on('leases.token', '+', 1), expires_at: this.#end }))
      .returning('leases.token')
      .executeTakeFirst();
    return row?.token;
  }
}

function namesOf(leases: readonly Lease[]): string[] {
  return leases.map(({ name }) => name);
}
