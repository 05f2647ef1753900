import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Connection } from './connection.ts';
import type { Reader, Writer } from './store.ts';
import { anyJsonSchema, DuplicateRecord, jsonText, readRecord, storableText } from './stored-record.ts';

const effectSchema = z.object({
  payload_hash: z.string(),
  transaction_id: z.string().nullable(),
  outcome: jsonText(anyJsonSchema).nullable(),
});

/** Reads of the table `effects`. */
export function effectReads({ db }: Connection): Pick<Reader, 'effect'> {
  return {
    async effect({ claimId, ordinal }) {
      const row = await db
        .selectFrom('effects')
        .select(['payload_hash', 'transaction_id', 'outcome'])
        .where('claim_id', '=', claimId)
        .where('ordinal', '=', ordinal)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const stored = readRecord(effectSchema, 'effects', `${claimId}/${ordinal}`, row);
      const outcome = row.outcome === null ? {} : { outcome: stored.outcome };
      return { payloadHash: stored.payload_hash, transactionId: stored.transaction_id, ...outcome };
    },
  };
}

type IdempotencyWrites =
  | 'claimKey'
  | 'renewClaims'
  | 'keepAnswer'
  | 'leaveKey'
  | 'insertEffect'
  | 'settleEffect'
  | 'pruneKeys';

/** Writes of the tables `idempotency_keys` and `effects`. */
export function idempotencyWrites({ db, now }: Connection): Pick<Writer, IdempotencyWrites> {
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
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('idempotency_keys')
          .values({
            ...{ id, scope, key, fingerprint, state: 'running', owner, token: 1, expires_at: later(forMs) },
            ...{ has_effects: 0, created_at: now(), status: null, body: null },
          })
          // Of two instances that insert at once, PostgreSQL makes one collide with the other and run again.
          .onConflict((on) => on.doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('idempotency_keys', id);
        return { kind: 'claimed', claim: { id, token: 1 } };
      }
      if (row.fingerprint !== fingerprint) return { kind: 'other-request' };
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

    async keepAnswer({ id, token }, { status, body }, { onlyAfterEffects }) {
      const isStorable = body === null || storableText(body) === body;
      let update = db
        .updateTable('idempotency_keys')
        .set({ state: 'answered', status, body: isStorable ? body : null })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running');
      if (onlyAfterEffects) update = update.where('has_effects', '=', 1);
      const { numUpdatedRows } = await update.executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },

    async leaveKey({ id, token }) {
      await db
        .deleteFrom('idempotency_keys')
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .where('has_effects', '=', 0)
        .execute();
      await db
        .updateTable('idempotency_keys')
        .set({ expires_at: 0 })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .execute();
    },

    async insertEffect({ claimId, ordinal, payloadHash }, { transactionId, outcome }) {
      const claim = await db
        .selectFrom('idempotency_keys')
        .select('has_effects')
        .where('id', '=', claimId)
        .executeTakeFirst();
      if (claim === undefined) throw new Error(`The request of claim ${claimId} was given up before it had an effect`);
      if (claim.has_effects === 0) {
        // Collides with whoever forgets the key meanwhile, so that no effect is left without it.
        await db.updateTable('idempotency_keys').set({ has_effects: 1 }).where('id', '=', claimId).execute();
      }
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('effects')
        .values({
          claim_id: claimId,
          ordinal,
          payload_hash: payloadHash,
          transaction_id: transactionId ?? null,
          outcome: outcome === undefined ? null : JSON.stringify(outcome),
        })
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('effects', `${claimId}/${ordinal}`);
    },

    async settleEffect({ claimId, ordinal }, outcome) {
      await db
        .updateTable('effects')
        .set({ outcome: JSON.stringify(outcome) })
        .where('claim_id', '=', claimId)
        .where('ordinal', '=', ordinal)
        .execute();
    },

    async pruneKeys(before, limit) {
      const old = await db
        .selectFrom('idempotency_keys')
        .select('id')
        .where('created_at', '<', before)
        .where((on) => on.or([on('state', '=', 'answered'), on('expires_at', '<=', now())]))
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
      await db.deleteFrom('effects').where('claim_id', 'in', ids).execute();
      await db.deleteFrom('idempotency_keys').where('id', 'in', ids).execute();
      return ids.length;
    },
  };
}
