import { type Kysely, sql } from 'kysely';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';
import type { Tables } from '../schema.ts';

/** For one that is free but about to be taken, or has a write under way to its end. */
const SHORTLY_MS = 200;

/** What is left of a lease beyond what any lasts: it was set before the database's clock was set back. */
const BEYOND_ANY_LEASE_MS = 60_000;

/** Milliseconds; unlike `now()` it goes on within a transaction, as it must for what may expire meanwhile. */
const now = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Leases as rows of the database. A row is never deleted, so its token only rises. Taking one never waits: the row of
 * a stopped owner that is inside a write is skipped until PostgreSQL ends that write.
 */
export class PostgresLeases implements Leases {
  readonly lastsMs: number;
  readonly #db: Kysely<Tables>;
  readonly #owner: string;

  /** `owner` tells the instances on a database apart. */
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
      // An owner that lives renews it meanwhile.
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
   * The fence, as the first statement of a transaction: the row stays locked until its end, so nobody takes the lease
   * over in between. A condition on a write alone does not do: it let a stale owner commit after a takeover.
   * @throws LeaseLost unless the lease is held
   */
  async assertHeld(transaction: Kysely<Tables>, lease: Lease): Promise<void> {
    const row = await transaction
      .selectFrom('leases')
      .select('token')
      .where('name', '=', lease.name)
      .where('token', '=', lease.token)
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
