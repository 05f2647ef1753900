import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../../domain/errors.ts';
import {
  effectRecord,
  type IdempotencyClaim,
  type JournalEntry,
  journalRecord,
  type KeyedRequest,
} from '../../domain/idempotency.ts';
import type { Json } from '../../domain/json/json.ts';
import { storableText } from '../../domain/record.ts';
import type { Connection } from '../connection.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { DuplicateRecord, recordOfRow, rowOfRecord } from './stored-record.ts';

/** Texts up to this size are not counted: the number of requests already limits them. */
export const COUNTED_BEYOND_BYTES = 4096;
/** Most bytes that the large answers and outcomes of one scope may take. */
export const KEPT_BYTES_QUOTA = 268_435_456;
/** How many answers one query removes to make room. */
const EVICTED_AT_ONCE = 20;

/** Counts the bytes of the kept answers and outcomes of each scope. */
class KeptBytesQuota {
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

/** Both databases limit the parameters of a statement. */
const IDS_PER_QUERY = 1000;

/** Reads of the tables `effects` and `call_journal`. */
export function effectReads(connection: Connection) {
  const { db } = connection;
  return {
    async journal(claimId) {
      const rows = await db
        .selectFrom('call_journal')
        .selectAll()
        .where('claim_id', '=', claimId)
        .orderBy('position')
        .execute();
      return rows.map((row) => {
        const { position, page } = recordOfRow(journalRecord, row, connection);
        return { position, page };
      });
    },

    async effect({ claim, payloadHash, occurrence }) {
      const row = await db
        .selectFrom('effects')
        .selectAll()
        .where('claim_id', '=', claim.id)
        .where('payload_hash', '=', payloadHash)
        .where('occurrence', '=', occurrence)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { transactionId, outcome, failure } = recordOfRow(effectRecord, row);
      // A null in the database is no result. A result may be null as well.
      return {
        transactionId,
        ...(row.outcome !== null && { outcome }),
        ...(row.failure !== null && { failure }),
      };
    },

    async effectNames(claimId) {
      const rows = await db
        .selectFrom('effects')
        .select(['payload_hash', 'occurrence'])
        .where('claim_id', '=', claimId)
        .execute();
      return rows.map(({ payload_hash, occurrence }) => ({ payloadHash: payload_hash, occurrence }));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes a page of the journal of a claim, in place of a shorter page at the same place. */
export async function putJournalPage(
  connection: Connection,
  claimId: string,
  { position, page }: JournalEntry,
): Promise<void> {
  const row = rowOfRecord(journalRecord, { claimId, position, page }, connection);
  await connection.db
    .insertInto('call_journal')
    .values(row)
    .onConflict((on) => on.columns(['claim_id', 'position']).doUpdateSet({ page: row.page }))
    .execute();
}

/** Owns the keys of durable calls: only a run of its call has the claim of such a key. */
export const OWNED_BY_CALL = '';

/** Stores a key that its scope does not have yet. Two instances that do so at once collide, and one runs again. */
export async function insertKey(
  { db, now }: Connection,
  key: KeyedRequest & { id: string; owner: string; token: number; expires_at: number | RawBuilder<number> },
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency_keys')
    .values({ ...key, state: 'running', has_effects: 0, created_at: now(), status: null, body: null })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('idempotency_keys', key.id);
}

/** Writes of the tables `idempotency_keys` and `effects`. */
export function idempotencyWrites(connection: Connection) {
  const { db, now, hasOtherWriters = false } = connection;
  const keptBytes = new KeptBytesQuota(connection);

  /** Makes sure that no other run takes the claim before the commit. */
  async function holdClaim({ id, token }: IdempotencyClaim, hasEffect: boolean): Promise<void> {
    const mine = db
      .selectFrom('idempotency_keys')
      .select('has_effects')
      .where('id', '=', id)
      .where('token', '=', token);
    const row = await mine.executeTakeFirst();
    // Another run has taken the claim, or the key was forgotten: that run would not find the effects of this one.
    if (row === undefined) throw new AppError('IDEMPOTENCY_RUNNING', {}, { retryAfterSeconds: 1 });
    if (hasEffect && row.has_effects === 0) {
      await db.updateTable('idempotency_keys').set({ has_effects: 1 }).where('id', '=', id).execute();
    } else if (hasOtherWriters) {
      await mine.forShare().execute();
    }
  }

  async function pin(transactionIds: readonly string[], by: number): Promise<void> {
    await db
      .updateTable('transactions')
      .set((on) => ({ pins: on('pins', '+', by) }))
      .where('id', 'in', transactionIds)
      .execute();
  }

  /** The JSON of an outcome, or null if there is no room for it. A later run then does not know the outcome. */
  async function kept(claimId: string, outcome: Json | undefined, quotaBytes?: number): Promise<string | null> {
    if (outcome === undefined) return null;
    const text = JSON.stringify(outcome);
    return (await keptBytes.take(claimId, text, quotaBytes)) ? text : null;
  }

  const later = (forMs: number): RawBuilder<number> => sql<number>`${now()} + ${sql.lit(Math.ceil(forMs))}`;

  return {
    async claimKey({ scope, key, fingerprint }, { id, owner, forMs, isAlone }) {
      const row = await db
        .selectFrom('idempotency_keys')
        .select(['id', 'fingerprint', 'state', 'owner', 'token', 'status', 'body'])
        .select(sql<number>`case when expires_at > ${now()} then 1 else 0 end`.as('is_held'))
        .where('scope', '=', scope)
        .where('key', '=', key)
        .executeTakeFirst();
      if (row === undefined) {
        await insertKey(connection, { id, scope, key, fingerprint, owner, token: 1, expires_at: later(forMs) });
        return { kind: 'claimed', claim: { id, token: 1 } };
      }
      if (row.owner === OWNED_BY_CALL || row.fingerprint !== fingerprint) return { kind: 'other-request' };
      if (row.state === 'answered') return { kind: 'answered', answer: { status: row.status ?? 0, body: row.body } };
      const isLost = row.is_held === 0 || (isAlone && row.owner !== owner);
      if (!isLost) return { kind: 'running' };
      const token = row.token + 1;
      await db
        .updateTable('idempotency_keys')
        .set({ owner, token, expires_at: later(forMs) })
        .where('id', '=', row.id)
        .execute();
      return { kind: 'claimed', claim: { id: row.id, token } };
    },

    async renewClaims(claims, forMs) {
      for (const { id, token } of claims) {
        await db
          .updateTable('idempotency_keys')
          .set({ expires_at: later(forMs) })
          .where('id', '=', id)
          .where('token', '=', token)
          .where('state', '=', 'running')
          .execute();
      }
    },

    async keepAnswer({ id, token }, { status, body }, { onlyAfterEffects, quotaBytes }) {
      const isStorable = body !== null && storableText(body) === body;
      let update = db
        .updateTable('idempotency_keys')
        .set({ state: 'answered', status, body: isStorable ? body : null })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running');
      if (onlyAfterEffects) update = update.where('has_effects', '=', 1);
      const answered = await update.returning(['scope', 'kept']).executeTakeFirst();
      if (answered === undefined) return false;
      if (answered.kept > 0) {
        // No later run needs the results of the effects. Effects with a transaction stay as long as the key.
        await db.deleteFrom('effects').where('claim_id', '=', id).where('transaction_id', 'is', null).execute();
        await db.updateTable('idempotency_keys').set({ kept: 0 }).where('id', '=', id).execute();
        await keptBytes.giveBack(answered.scope, answered.kept);
      }
      if (isStorable && !(await keptBytes.take(id, body, quotaBytes))) {
        await db.updateTable('idempotency_keys').set({ body: null }).where('id', '=', id).execute();
      }
      return true;
    },

    async leaveKey({ id, token }) {
      const left = await db
        .updateTable('idempotency_keys')
        .set({ expires_at: 0 })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .returning('has_effects')
        .executeTakeFirst();
      if (left === undefined || left.has_effects === 1) return;
      // No outcome of these effects is large enough to be counted in `kept_bytes`.
      await db.deleteFrom('effects').where('claim_id', '=', id).execute();
      await db.deleteFrom('call_journal').where('claim_id', '=', id).execute();
      await db.deleteFrom('idempotency_keys').where('id', '=', id).execute();
    },

    async insertEffect({ claim, payloadHash, occurrence, journal }, note) {
      const { transactionId = null, outcome, failure, leavesNothing = failure !== undefined, quotaBytes } = note;
      await holdClaim(claim, !leavesNothing);
      if (journal !== undefined) await putJournalPage(connection, claim.id, journal);
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('effects')
        .values({
          claim_id: claim.id,
          payload_hash: payloadHash,
          occurrence,
          transaction_id: transactionId,
          outcome: await kept(claim.id, outcome, quotaBytes),
          failure: failure === undefined ? null : JSON.stringify(failure),
        })
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) {
        throw new DuplicateRecord('effects', `${claim.id}/${payloadHash}/${occurrence}`);
      }
      if (transactionId === null) return;
      await pin([transactionId], 1);
    },

    async settleEffect({ claim, payloadHash, occurrence }, { outcome, failure, quotaBytes }) {
      await db
        .updateTable('effects')
        .set({
          outcome: await kept(claim.id, outcome, quotaBytes),
          failure: failure === undefined ? null : JSON.stringify(failure),
        })
        .where('claim_id', '=', claim.id)
        .where('payload_hash', '=', payloadHash)
        .where('occurrence', '=', occurrence)
        .execute();
    },

    async forgetEffect({ claim, payloadHash, occurrence }) {
      await db
        .deleteFrom('effects')
        .where('claim_id', '=', claim.id)
        .where('payload_hash', '=', payloadHash)
        .where('occurrence', '=', occurrence)
        .where('outcome', 'is', null)
        .where('failure', 'is', null)
        .execute();
    },

    async pruneKeys(before, limit) {
      const old = await db
        .selectFrom('idempotency_keys')
        .select(['id', 'scope', 'kept'])
        .where('created_at', '<', before)
        .where((on) => on.or([on('state', '=', 'answered'), on('expires_at', '<=', now())]))
        // A durable call keeps its key.
        .where((on) =>
          on.not(on.exists(on.selectFrom('calls').select('calls.id').whereRef('calls.id', '=', 'idempotency_keys.id'))),
        )
        .where((on) =>
          on.not(
            on.exists(
              on
                .selectFrom('effects')
                .innerJoin('transactions', 'transactions.id', 'effects.transaction_id')
                .select('transactions.id')
                .whereRef('effects.claim_id', '=', 'idempotency_keys.id')
                .where('transactions.ended_at', 'is', null),
            ),
          ),
        )
        .orderBy('created_at')
        .limit(limit)
        .execute();
      if (old.length === 0) return 0;
      const ids = old.map(({ id }) => id);
      const named = await db
        .selectFrom('effects')
        .select((on) => ['transaction_id', on.fn.countAll<number>().as('count')])
        .where('claim_id', 'in', ids)
        .where('transaction_id', 'is not', null)
        .$narrowType<{ transaction_id: string }>()
        .groupBy('transaction_id')
        .execute();
      for (const [count, those] of Map.groupBy(named, (one) => one.count)) {
        const all = those.map((one) => one.transaction_id);
        for (let at = 0; at < all.length; at += IDS_PER_QUERY) await pin(all.slice(at, at + IDS_PER_QUERY), -count);
      }
      await db.deleteFrom('effects').where('claim_id', 'in', ids).execute();
      await db.deleteFrom('call_journal').where('claim_id', 'in', ids).execute();
      await db.deleteFrom('idempotency_keys').where('id', 'in', ids).execute();
      for (const [scope, ofScope] of Map.groupBy(old, (key) => key.scope)) {
        await keptBytes.giveBack(
          scope,
          ofScope.reduce((sum, { kept }) => sum + kept, 0),
        );
      }
      return ids.length;
    },
  } satisfies Partial<StoreWriter>;
}
