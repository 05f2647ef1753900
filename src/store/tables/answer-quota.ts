import { sql } from 'kysely';
import type { Connection } from '../connection.ts';

/** Texts up to this size are not counted: the number of requests already limits them. */
export const COUNTED_BEYOND_BYTES = 4096;
/** Most bytes that the large answers and outcomes of one scope may take. */
export const KEPT_BYTES_QUOTA = 268_435_456;
/** How many answers one query removes to make room. */
const EVICTED_AT_ONCE = 20;

/** Counts the bytes of the kept answers and outcomes of each scope. */
export class KeptBytesQuota {
  readonly #db: Connection['db'];

  constructor({ db }: Connection) {
    this.#db = db;
  }

  /**
   * Counts a text to be kept under a claim. Makes room by removing the oldest answers. False when there is still no
   * room.
   */
  async take(claimId: string, text: string, quota = KEPT_BYTES_QUOTA): Promise<boolean> {
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

  /** Subtracts the bytes of keys that a scope no longer keeps. */
  async giveBack(scope: string, bytes: number): Promise<void> {
    if (bytes > 0) await this.#add(scope, -bytes);
  }

  async #evict(scope: string): Promise<number> {
    const oldest = await this.#db
      .selectFrom('idempotency_keys')
      .select(['id', 'kept'])
      .where('scope', '=', scope)
      // Literals, as in the index: otherwise the index is not used.
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
