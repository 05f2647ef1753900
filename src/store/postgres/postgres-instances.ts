import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { jsonText } from '../../domain/record.ts';
import type { Instances } from '../instances.ts';
import type { Tables } from '../schema.ts';

const now = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

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
    const word = { said_at: now, unreached: JSON.stringify(unreached) };
    await this.#db
      .insertInto('instances')
      .values({ id: this.#id, ...word })
      .onConflict((on) => on.column('id').doUpdateSet(word))
      .execute();
    await this.#db.deleteFrom('instances').where(sql<boolean>`abs(said_at - ${now}) > ${KEPT_MS}`).execute();
    const others = await this.#db
      .selectFrom('instances')
      .select('unreached')
      .where('id', '!=', this.#id)
      .where(sql<boolean>`abs(said_at - ${now}) < ${this.lastsMs}`)
      .execute();
    return others.map(({ unreached: text }) => new Set(unreachedSchema.parse(text)));
  }

  async leave(): Promise<void> {
    await this.#db.deleteFrom('instances').where('id', '=', this.#id).execute();
  }
}
