import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { jsonText } from '../../domain/record.ts';
import type { Connection } from '../connection.ts';
import type { Instances, SharedTokenBuckets, TokenBucketAnswer, TokenBucketSize } from '../instances.ts';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';
import { preparedQuery } from '../prepared.ts';
import type { Tables } from '../schema.ts';
import { Gathering, type Waiting } from './postgres-batches.ts';

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

/** How many leases one statement takes, renews or releases. */
const LEASES_TOGETHER = 512;

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
  readonly #acquiring = new Gathering<string, LeaseAnswer>((waiting) =>
    this.#inParts(waiting, (part) => this.#take(part)),
  );
  readonly #releasing = new Gathering<Lease, void>((waiting) => this.#inParts(waiting, (part) => this.#free(part)));

  /** `owner` identifies this instance among those on the database. */
  constructor(db: Kysely<Tables>, owner: string, lastsMs: number) {
    this.#db = db;
    this.#owner = owner;
    this.lastsMs = lastsMs;
  }

  acquire(name: string): Promise<LeaseAnswer> {
    return this.#acquiring.add(name);
  }

  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    const tokens = new Map<string, number>();
    // In parts: a row stays locked until its statement ends, and a write of the lane waits for it.
    for (let at = 0; at < leases.length; at += LEASES_TOGETHER) {
      const part = leases.slice(at, at + LEASES_TOGETHER);
      const rows = await this.#db
        .updateTable('leases')
        .from(namesOf(part.map(({ name }) => name)).as('asked'))
        .whereRef('leases.name', '=', 'asked.name')
        .set({ expires_at: this.#end })
        .where('owner', '=', this.#owner)
        .where('expires_at', '>', nowMs)
        .returning(['leases.name', 'leases.token'])
        .execute();
      for (const { name, token } of rows) tokens.set(name, token);
    }
    return leases.filter(({ name, token }) => tokens.get(name) === token);
  }

  async release(leases: readonly Lease[]): Promise<void> {
    await Promise.all(leases.map((lease) => this.#releasing.add(lease)));
  }

  /**
   * Checks a lease as the first statement of a transaction on this connection. The row stays locked until the
   * transaction ends, so no instance can take the lease over in between. A condition on a write alone would not be
   * enough: it let a stale owner commit after a takeover. The owner is compared too: a server that loses its last
   * commits gives a token again.
   * @returns a function that asks at once, and throws LeaseLost unless the lease is held. `isOneOfSeveral`: fails where
   * it had to wait, because a transaction that waits for one lease and holds another could wait for ever
   */
  heldOver(connection: Pick<Connection, 'run'>): (lease: Lease, isOneOfSeveral?: boolean) => Promise<void> {
    const lock = (name: string, token: number) =>
      this.#db
        .selectFrom('leases')
        .select('token')
        .where('name', '=', name)
        .where('token', '=', token)
        .where('owner', '=', this.#owner)
        .where('expires_at', '>', nowMs)
        .forShare();
    const held = preparedQuery(connection, (name: string, token: number) => lock(name, token));
    const heldNow = preparedQuery(connection, (name: string, token: number) => lock(name, token).noWait());
    return async (lease, isOneOfSeveral = false) => {
      const rows = await (isOneOfSeveral ? heldNow : held)(lease.name, lease.token);
      if (rows.length === 0) throw new LeaseLost(lease);
    };
  }

  get #end() {
    return sql<number>`${nowMs} + ${this.lastsMs}`;
  }

  async #inParts<Asked, Answer>(
    waiting: readonly Waiting<Asked, Answer>[],
    ask: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
  ): Promise<void> {
    for (let at = 0; at < waiting.length; at += LEASES_TOGETHER) {
      const part = waiting.slice(at, at + LEASES_TOGETHER);
      try {
        const answers = await ask(part.map(({ asked }) => asked));
        for (const [index, { resolve }] of part.entries()) resolve(answers[index] as Answer);
      } catch (error) {
        for (const { reject } of part) reject(error);
      }
    }
  }

  /** Takes the leases that are new, free or this instance's own, in one statement. */
  async #take(names: readonly string[]): Promise<LeaseAnswer[]> {
    const rows = await this.#db
      .with('asked', (from) => from.selectFrom(namesOf(names).as('given')).select('given.name'))
      .with('free', (from) =>
        from
          .selectFrom('leases')
          .innerJoin('asked', 'asked.name', 'leases.name')
          .select('leases.name')
          .where((on) => on.or([on('expires_at', '<=', nowMs), on('owner', '=', this.#owner)]))
          .forUpdate('leases')
          .skipLocked(),
      )
      .with('taken', (from) =>
        from
          .updateTable('leases')
          .from('free')
          .whereRef('leases.name', '=', 'free.name')
          .set((on) => ({ owner: this.#owner, token: on('leases.token', '+', 1), expires_at: this.#end }))
          .returning(['leases.name', 'leases.token']),
      )
      .with('made', (from) =>
        from
          .insertInto('leases')
          .columns(['name', 'owner', 'token', 'expires_at'])
          .expression((of) =>
            of
              .selectFrom('asked')
              .select(['asked.name', sql<string>`${this.#owner}`.as('owner'), sql<number>`1`.as('token')])
              .select(this.#end.as('expires_at'))
              .where((on) => on.not(on.exists(on.selectFrom('leases').whereRef('leases.name', '=', 'asked.name')))),
          )
          .onConflict((on) => on.doNothing())
          .returning(['name', 'token']),
      )
      .selectFrom('asked')
      .leftJoin('leases', 'leases.name', 'asked.name')
      .leftJoin('taken', 'taken.name', 'asked.name')
      .leftJoin('made', 'made.name', 'asked.name')
      .select((on) => [
        'asked.name',
        'leases.owner',
        on.fn.coalesce('taken.token', 'made.token').as('token'),
        sql<number | null>`leases.expires_at - ${nowMs}`.as('left'),
      ])
      .execute();
    const found = new Map(rows.map((row) => [row.name, row]));
    return await Promise.all(
      names.map(async (name): Promise<LeaseAnswer> => {
        const { owner = null, token = null, left = null } = found.get(name) ?? {};
        if (token !== null) return { kind: 'taken', lease: { name, token } };
        // Another instance made it in this moment.
        if (left === null) return { kind: 'elsewhere', forMs: this.lastsMs };
        if (owner !== this.#owner && left > this.lastsMs + BEYOND_ANY_LEASE_MS) {
          // A living owner renews the lease in this time.
          await this.#shorten(name);
          return { kind: 'elsewhere', forMs: this.lastsMs };
        }
        return { kind: 'elsewhere', forMs: owner !== this.#owner && left > 0 ? left : SHORTLY_MS };
      }),
    );
  }

  async #free(leases: readonly Lease[]): Promise<void[]> {
    const given = JSON.stringify(leases);
    await sql`update leases set expires_at = 0 from json_to_recordset(${given}::json) as given (name text, token bigint)
      where leases.name = given.name and leases.token = given.token`.execute(this.#db);
    return leases.map(() => undefined);
  }

  async #shorten(name: string): Promise<void> {
    await this.#db
      .updateTable('leases')
      .set({ expires_at: this.#end })
      .where('name', '=', name)
      .where('expires_at', '>', sql<number>`${nowMs} + ${this.lastsMs + BEYOND_ANY_LEASE_MS}`)
      .execute();
  }
}

/** A list as a table with one column. Its text is one parameter, however long the list is. */
function namesOf(names: readonly string[]) {
  return sql<{ name: string }>`(select json_array_elements_text(${JSON.stringify(names)}::json) as name)`;
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
  /** The other instances that had reported when this one did last. */
  #others: readonly string[] = [];

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
      .select(['id', 'unreached'])
      .where('id', '!=', this.#id)
      .where(sql<boolean>`abs(said_at - ${nowMs}) < ${this.lastsMs}`)
      .execute();
    this.#others = others.map(({ id }) => id);
    return others.map(({ unreached: text }) => new Set(unreachedSchema.parse(text)));
  }

  isOurs(name: string): boolean {
    const own = shareOf(name, this.#id);
    return this.#others.every((other) => shareOf(name, other) <= own);
  }

  async leave(): Promise<void> {
    await this.#db.deleteFrom('instances').where('id', '=', this.#id).execute();
  }
}

/**
 * Ranks the instances for a name: the highest is to take it. When one comes or goes, only its own share moves
 * (https://en.wikipedia.org/wiki/Rendezvous_hashing).
 */
function shareOf(name: string, id: string): string {
  return createHash('sha1').update(`${id} ${name}`).digest('hex');
}

/** Microseconds since the epoch. */
const nowUs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

interface BucketRequest {
  subject: string;
  costUs: number;
  fullUs: number;
}

type BucketWait = Waiting<BucketRequest, TokenBucketAnswer>;

/**
 * Buckets as rows of an unlogged table, so that no request waits for the disk. A crash of the database loses a few
 * seconds of counting. A bucket is stored as the moment at which it will be full, as in `http/rate-limiter.ts`. Requests
 * for one bucket that come together are one statement.
 */
export class PostgresBuckets implements SharedTokenBuckets {
  /** In one statement, so that each instance sees what the others took before. */
  readonly #take: (subject: string, costUs: number, fullUs: number) => Promise<{ missing: number }[]>;
  readonly #missing: (subject: string) => Promise<{ missing: number }[]>;
  readonly #gathering = new Gathering<BucketRequest, TokenBucketAnswer>(
    async (waiting) => {
      const groups = Map.groupBy(waiting, ({ asked: { subject, fullUs } }) => `${fullUs} ${subject}`);
      await Promise.all([...groups.values()].map((group) => this.#serve(group)));
    },
    { underWay: 1, waitMs: 3 },
  );

  constructor(db: Kysely<Tables>) {
    const connection: Pick<Connection, 'run'> = { run: (query) => db.executeQuery(query) };
    const before = sql<number>`greatest(rate_buckets.full_at, ${nowUs})`;
    const missing = sql<number>`full_at - ${nowUs}`.as('missing');
    this.#take = preparedQuery(connection, (subject: string, costUs: number, fullUs: number) =>
      db
        .insertInto('rate_buckets')
        .values({ subject, full_at: sql<number>`${nowUs} + ${costUs}::bigint` })
        .onConflict((on) =>
          on
            .column('subject')
            .doUpdateSet({ full_at: sql<number>`${before} + ${costUs}::bigint` })
            .where(sql<boolean>`${before} + ${costUs}::bigint <= ${nowUs} + ${fullUs}::bigint`),
        )
        .returning(missing),
    );
    this.#missing = preparedQuery(connection, (subject: string) =>
      db.selectFrom('rate_buckets').select(missing).where('subject', '=', subject),
    );
  }

  async take(subject: string, { tokenUs, fullUs }: TokenBucketSize, count = 1): Promise<TokenBucketAnswer> {
    const costUs = tokenUs * count;
    // A new bucket has no row yet, so the statement could not refuse.
    if (costUs > fullUs) return { allowed: false, missingUs: 0 };
    return await this.#gathering.add({ subject, costUs, fullUs });
  }

  /** Takes for all of a bucket's requests at once, or for as many of the first as it has tokens for. */
  async #serve(group: readonly BucketWait[]): Promise<void> {
    try {
      let left = group;
      while (left.length > 0) left = await this.#serveFirst(left);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** @returns those that are not served yet */
  async #serveFirst(group: readonly BucketWait[]): Promise<readonly BucketWait[]> {
    const [first] = group;
    if (first === undefined) return [];
    const { subject, fullUs } = first.asked;
    const some = fitting(group, fullUs);
    const [taken] = await this.#take(subject, costOf(some), fullUs);
    if (taken !== undefined) {
      serve(some, taken.missing);
      return group.slice(some.length);
    }
    const before = (await this.#missing(subject))[0]?.missing ?? 0;
    const fewer = fitting(some, fullUs - before);
    const [less] = fewer.length === 0 ? [] : await this.#take(subject, costOf(fewer), fullUs);
    if (less !== undefined) serve(fewer, less.missing);
    const missingUs = Math.max(0, less?.missing ?? before);
    const rest = less === undefined ? group : group.slice(fewer.length);
    const isRefused = ({ asked }: BucketWait, place: number) =>
      asked.costUs > fullUs - missingUs || (less === undefined && place === 0);
    for (const { resolve } of rest.filter(isRefused)) resolve({ allowed: false, missingUs });
    return rest.filter((one, place) => !isRefused(one, place));
  }
}

function costOf(group: readonly BucketWait[]): number {
  return group.reduce((sum, { asked }) => sum + asked.costUs, 0);
}

/** The first of the requests that `us` microseconds pay for. */
function fitting(group: readonly BucketWait[], us: number): readonly BucketWait[] {
  let sum = 0;
  return group.filter(({ asked }) => {
    sum += asked.costUs;
    return sum <= us;
  });
}

/** Allows the requests in order. @param missing how much the bucket lacks after the last of them */
function serve(group: readonly BucketWait[], missing: number): void {
  let later = costOf(group);
  for (const { asked, resolve } of group) {
    later -= asked.costUs;
    resolve({ allowed: true, missingUs: Math.max(0, missing - later) });
  }
}
