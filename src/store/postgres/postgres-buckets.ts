import { type Kysely, sql } from 'kysely';
import type { BucketAnswer, BucketSize, Buckets } from '../buckets.ts';
import type { Tables } from '../schema.ts';

/** Microseconds since the epoch. */
const now = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * Buckets as rows of an unlogged table, so that no request waits for the disk. A crash of the database loses a few
 * seconds of counting. A bucket is stored as the moment at which it will be full, as in `http/token-buckets.ts`.
 */
export class PostgresBuckets implements Buckets {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async take(subject: string, { tokenUs, fullUs }: BucketSize, count = 1): Promise<BucketAnswer> {
    const costUs = tokenUs * count;
    // A new bucket has no row yet, so the statement below could not refuse.
    if (costUs > fullUs) return { allowed: false, missingUs: 0 };
    const before = sql<number>`greatest(rate_buckets.full_at, ${now})`;
    // One statement, so that each instance sees what the others took before.
    const taken = await this.#db
      .insertInto('rate_buckets')
      .values({ subject, full_at: sql<number>`${now} + ${costUs}::bigint` })
      .onConflict((on) =>
        on
          .column('subject')
          .doUpdateSet({ full_at: sql<number>`${before} + ${costUs}::bigint` })
          .where(sql<boolean>`${before} + ${costUs}::bigint <= ${now} + ${fullUs}::bigint`),
      )
      .returning(sql<number>`full_at - ${now}`.as('missing'))
      .executeTakeFirst();
    if (taken !== undefined) return { allowed: true, missingUs: Math.max(0, taken.missing) };
    const refused = await this.#db
      .selectFrom('rate_buckets')
      .select(sql<number>`full_at - ${now}`.as('missing'))
      .where('subject', '=', subject)
      .executeTakeFirst();
    return { allowed: false, missingUs: Math.max(0, refused?.missing ?? 0) };
  }
}
