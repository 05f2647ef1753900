import { z } from 'zod';
import { jsonText, storableText, timestamp } from '../../../domain/record.ts';
import type { ApiKey } from '../../../domain/settings/api-key.ts';
import type { Connection } from '../../connection.ts';
import type { Reader, Writer } from '../../store.ts';
import { pageBounds, totalOf } from '../lists/paging.ts';
import { readRecord } from '../stored-record.ts';

const rateSchema = z.strictObject({ perSecond: z.number(), burst: z.number() });

const rowSchema = z
  .object({
    id: z.string(),
    created_at: timestamp.schema,
    name: z.string(),
    permissions: jsonText(z.array(z.string())),
    allowed_origins: jsonText(z.array(z.string())),
    rate: jsonText(rateSchema).nullable(),
    expires_at: timestamp.schema.nullable(),
    ancestors: jsonText(z.array(z.strictObject({ id: z.string(), rate: rateSchema.nullable() }))),
  })
  .transform(
    (row): ApiKey => ({
      id: row.id,
      name: row.name,
      createdAt: row.created_at,
      permissions: row.permissions,
      allowedOrigins: row.allowed_origins,
      rate: row.rate,
      expiresAt: row.expires_at,
      ancestors: row.ancestors,
    }),
  );

const SHOWN = [
  'id',
  'created_at',
  'name',
  'permissions',
  'allowed_origins',
  'rate',
  'expires_at',
  'ancestors',
] as const;

/** Reads of the table `api_keys`. */
export function apiKeyReads({ db }: Connection): Pick<Reader, 'apiKey' | 'apiKeys' | 'apiKeyHashes'> {
  const newestFirst = db.selectFrom('api_keys').orderBy('created_at', 'desc').orderBy('id', 'desc');
  return {
    async apiKey(id) {
      const row = await db.selectFrom('api_keys').select(SHOWN).where('id', '=', id).executeTakeFirst();
      return row && readRecord(rowSchema, 'api_keys', id, row);
    },

    async apiKeys(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await newestFirst.select(SHOWN).limit(limit).offset(offset).execute();
      const total = await db
        .selectFrom('api_keys')
        .select((on) => on.fn.countAll<number>().as('total'))
        .execute();
      return { items: rows.map((row) => readRecord(rowSchema, 'api_keys', row.id, row)), total: totalOf(total) };
    },

    async apiKeyHashes() {
      const rows = await newestFirst.selectAll().execute();
      return new Map(rows.map(({ hash, ...row }) => [hash, readRecord(rowSchema, 'api_keys', row.id, row)]));
    },
  };
}

/** Writes of the table `api_keys`. */
export function apiKeyWrites({ db, now }: Connection): Pick<Writer, 'insertApiKey' | 'updateApiKey' | 'deleteApiKey'> {
  return {
    async insertApiKey(key, hash) {
      await db
        .insertInto('api_keys')
        .values({ id: key.id, created_at: now(), hash, ancestors: JSON.stringify(key.ancestors), ...changing(key) })
        .execute();
    },

    async updateApiKey(key) {
      await db.updateTable('api_keys').set(changing(key)).where('id', '=', key.id).execute();
    },

    async deleteApiKey(id) {
      const { numDeletedRows } = await db.deleteFrom('api_keys').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}

function changing({ name, permissions, allowedOrigins, rate, expiresAt }: Omit<ApiKey, 'createdAt' | 'ancestors'>) {
  return {
    name: storableText(name),
    permissions: JSON.stringify(permissions),
    allowed_origins: JSON.stringify(allowedOrigins),
    rate: rate && JSON.stringify(rate),
    expires_at: expiresAt,
  };
}
