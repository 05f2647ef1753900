import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds when the highest pruned sequence of a lane became final; of those that were pruned before nobody knows it. */
export async function dateSettlements(db: Kysely<Tables>, { integer }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('lane_sequences').addColumn('settled_at', integer).execute();
}
