import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds an index of the few attempts that fill a gap, which were else looked for among all of a lane. */
export async function indexFillers(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createIndex('attempts_that_fill')
    .on('attempts')
    .columns(['lane', 'created_at'])
    .where(sql.ref('ordinal'), '=', sql.lit(1))
    .where(sql.ref('purpose'), '=', sql.lit('void'))
    .execute();
}
