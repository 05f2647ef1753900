import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';
import { baseline } from './baseline.ts';

/** One step of the schema. A released step is never edited: a change is made by a new step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps. A database's version is the number of steps that it has taken. */
export const migrations: readonly Migration[] = [
  { name: 'baseline', up: baseline },
  { name: 'ancestors of API keys', up: ancestorsOfKeys },
  { name: 'dead rows', up: deadRows },
];

/** Each transaction changes its row, those of its attempts and the lease of its lane again and again. */
async function deadRows(db: Kysely<Tables>, { clearedOften }: ColumnTypes): Promise<void> {
  for (const table of ['transactions', 'attempts', 'leases']) {
    for (const statement of clearedOften(table)) await statement.execute(db);
  }
}

/** A key shares the rates of the keys that made it. Keys from before have no ancestors. */
async function ancestorsOfKeys(db: Kysely<Tables>, { text }: ColumnTypes): Promise<void> {
  await sql`alter table api_keys add column ancestors ${text} not null default '[]'`.execute(db);
}
