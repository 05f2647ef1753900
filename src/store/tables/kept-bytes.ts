import { sql } from 'kysely';
import type { Connection } from '../connection.ts';

/** What is not larger than this is not counted: how many requests there may be bounds it. */
export const COUNTED_BEYOND_BYTES = 4096;
/** What large answers and outcomes of one scope may come to. */
export const QUOTA_BYTES = 268_435_456;
/** Answers that give way in one query. */
const EVICTED_AT_ONCE = 20;

/** How much is kept of the answers and outcomes of each scope. */
export class KeptBytes {
  readonly #db: Connection['db'];

  constructor({ db }: Connection) {
    this.#db = db;
  }

  /** Counts a text that is to be kept under a claim; false when there is no room, also after the oldest answers went. */
  async take(claimId: string, text: string, quota = QUOTA_BYTES): Promise<boolean> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= COUNTED_BEYOND_BYTES) return true;
    const { scope } = await this.#db
      .selectFrom('idempotency_keys')
      .select('scope')
      .where('id', '=', claimId)
      .executeTakeFirstOrThrow();
    const used = await this.#db.selectFrom('kept_bytes').select('bytes').where('scope', '=', scope).executeTakeFirst();
    let over = (used?.bytes ?? 0) + bytes - quota;
    while (over > 0) {
      const freed = await this.#evict(scope);
      if (freed === 0) return false;
      over -= freed;
    }
    await this.#db
      .updateTable('idempotency_keys')
      .set((on) => ({ kept: on('kept', '+', bytes) }))
      .where('id', '=', claimId)
      .execute();
    await this.#add(scope, bytes);
    return true;
  }

  /** Counts a scope's keys no more, of which this much was kept. */
  async giveBack(scope: string, bytes: number): Promise<void> {
    if (bytes > 0) await this.#add(scope, -bytes);
  }

  async #evict(scope: string): Promise<number> {
    const oldest = await this.#db
      .selectFrom('idempotency_keys')
      .select(['id', 'kept'])
      .where('scope', '=', scope)
      // Written out, as in the index.
      .where('kept', '>', sql.lit(0))
      .where('state', '=', sql.lit('answered'))
      .orderBy('created_at')
      .limit(EVICTED_AT_ONCE)
      .execute();
    if (oldest.length === 0) return 0;
    const ids = oldest.map(({ id }) => id);
    await this.#db.updateTable('idempotency_keys').set({ body: null, kept: 0 }).where('id', 'in', ids).execute();
    const freed = oldest.reduce((sum, { kept }) => sum + kept, 0);
    await this.#add(scope, -freed);
    return freed;
  }

  async #add(scope: string, bytes: number): Promise<void> {
    await this.#db
      .insertInto('kept_bytes')
      .values({ scope, bytes })
      .onConflict((on) => on.column('scope').doUpdateSet((set) => ({ bytes: set('kept_bytes.bytes', '+', bytes) })))
      .execute();
  }
}
