import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';
import { baseline } from './baseline.ts';

/** One step of the schema. Once released it is never edited: what has to change is the next step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps; the version of a database is the number of those that it has taken. */
export const migrations: readonly Migration[] = [{ name: 'baseline', up: baseline }];
