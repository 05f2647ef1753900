import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds which endpoint first had a version; of those that were accepted before nobody knows it. */
export async function nameTakers(db: Kysely<Tables>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('attempts').addColumn('accepted_by', text).execute();
}
