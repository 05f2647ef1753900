import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { jsonText } from '../../domain/record.ts';
import type { Connection } from '../connection.ts';
import type { Instances, SharedTokenBuckets, TokenBucketAnswer, TokenBucketSize } from '../instances.ts';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';
import { preparedQuery } from '../prepared.ts';
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
const nowMs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

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
      .select(['owner', sql<number>`expires_at - ${nowMs}`.as('left')])
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
      .where('expires_at', '>', nowMs)
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
   * Checks a lease as the first statement of a transaction on this connection. The row stays locked until the
   * transaction ends, so no instance can take the lease over in between. A condition on a write alone would not be
   * enough: it let a stale owner commit after a takeover. The owner is compared too: a server that loses its last
   * commits gives a token again.
   * @returns a function that asks at once, and throws LeaseLost unless the lease is held
   */
  heldOver(connection: Pick<Connection, 'run'>): (lease: Lease) => Promise<void> {
    const held = preparedQuery(connection, (name: string, token: number) =>
      this.#db
        .selectFrom('leases')
        .select('token')
        .where('name', '=', name)
        .where('token', '=', token)
        .where('owner', '=', this.#owner)
        .where('expires_at', '>', nowMs)
        .forShare(),
    );
    return async (lease) => {
      if ((await held(lease.name, lease.token)).length === 0) throw new LeaseLost(lease);
    };
  }

  get #end() {
    return sql<number>`${nowMs} + ${this.lastsMs}`;
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
      .where('expires_at', '>', sql<number>`${nowMs} + ${this.lastsMs + BEYOND_ANY_LEASE_MS}`)
      .execute();
  }

  async #takeOver(name: string): Promise<number | undefined> {
    const row = await this.#db
      .with('free', (from) =>
        from
          .selectFrom('leases')
          .select('name')
          .where('name', '=', name)
          .where((on) => on.or([on('expires_at', '<=', nowMs), on('owner', '=', this.#owner)]))
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

/**
 * How long the row of an instance that is gone stays, in milliseconds. After that the others delete it, even if the
 * clock was changed.
 */
const KEPT_MS = 3_600_000;

const unreachedSchema = jsonText(z.array(z.string()));

/** The instances' reports as rows of an unlogged table. After a crash of the database each instance reports again. */
export class PostgresInstances implements Instances {
  readonly lastsMs: number;
  readonly #db: Kysely<Tables>;
  readonly #id: string;

  /** `id` identifies this instance among those on the database. */
  constructor(db: Kysely<Tables>, id: string, lastsMs: number) {
    this.#db = db;
    this.#id = id;
    this.lastsMs = lastsMs;
  }

  async say(unreached: readonly string[]): Promise<ReadonlySet<string>[]> {
    const word = { said_at: nowMs, unreached: JSON.stringify(unreached) };
    await this.#db
      .insertInto('instances')
      .values({ id: this.#id, ...word })
      .onConflict((on) => on.column('id').doUpdateSet(word))
      .execute();
    await this.#db.deleteFrom('instances').where(sql<boolean>`abs(said_at - ${nowMs}) > ${KEPT_MS}`).execute();
    const others = await this.#db
      .selectFrom('instances')
      .select('unreached')
      .where('id', '!=', this.#id)
      .where(sql<boolean>`abs(said_at - ${nowMs}) < ${this.lastsMs}`)
      .execute();
    return others.map(({ unreached: text }) => new Set(unreachedSchema.parse(text)));
  }

  async leave(): Promise<void> {
    await this.#db.deleteFrom('instances').where('id', '=', this.#id).execute();
  }
}

/** Microseconds since the epoch. */
const nowUs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * Buckets as rows of an unlogged table, so that no request waits for the disk. A crash of the database loses a few
 * seconds of counting. A bucket is stored as the moment at which it will be full, as in `http/rate-limiter.ts`.
 */
export class PostgresBuckets implements SharedTokenBuckets {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async take(subject: string, { tokenUs, fullUs }: TokenBucketSize, count = 1): Promise<TokenBucketAnswer> {
    const costUs = tokenUs * count;
    // A new bucket has no row yet, so the statement below could not refuse.
    if (costUs > fullUs) return { allowed: false, missingUs: 0 };
    const before = sql<number>`greatest(rate_buckets.full_at, ${nowUs})`;
    // One statement, so that each instance sees what the others took before.
    const taken = await this.#db
      .insertInto('rate_buckets')
      .values({ subject, full_at: sql<number>`${nowUs} + ${costUs}::bigint` })
      .onConflict((on) =>
        on
          .column('subject')
          .doUpdateSet({ full_at: sql<number>`${before} + ${costUs}::bigint` })
          .where(sql<boolean>`${before} + ${costUs}::bigint <= ${nowUs} + ${fullUs}::bigint`),
      )
      .returning(sql<number>`full_at - ${nowUs}`.as('missing'))
      .executeTakeFirst();
    if (taken !== undefined) return { allowed: true, missingUs: Math.max(0, taken.missing) };
    const refused = await this.#db
      .selectFrom('rate_buckets')
      .select(sql<number>`full_at - ${nowUs}`.as('missing'))
      .where('subject', '=', subject)
      .executeTakeFirst();
    return { allowed: false, missingUs: Math.max(0, refused?.missing ?? 0) };
  }
}
