import { type Insertable, sql } from 'kysely';
import type { Connection } from '../../store/connection.ts';
import { preparedWrite } from '../../store/prepared.ts';
import type { Tables } from '../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { recordOfRow } from '../../store/tables/stored-record.ts';
import { type AuditFilter, type AuditRecord, auditRecord } from './record.ts';

/** Most records that one query passes over. So a filter that few records pass costs the same as one that all pass. */
const MAX_LOOK = 1_000;

/** The condition of the partial index of changes. Most of the table's records are not changes of settings. */
const isChange = sql<boolean>`resource not in ('transaction', 'delivery', 'signature')`;

const NO_CHANGES: ReadonlySet<AuditRecord['resource']> = new Set(['transaction', 'delivery', 'signature']);

/** Reads of the table `audit_records`. */
export function auditReads({ db }: Connection) {
  /** The part of the filter that an index finds. */
  function indexed({ resource, resourceId }: AuditFilter) {
    const all = db.selectFrom('audit_records');
    if (resource === undefined) return all;
    if (resourceId !== undefined) return all.where('resource', '=', resource).where('resource_id', '=', resourceId);
    return NO_CHANGES.has(resource) ? all : all.where(isChange);
  }

  return {
    async latestChange() {
      const row = await db
        .selectFrom('audit_records')
        .select('position')
        .where(isChange)
        .orderBy('position', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.position ?? 0;
    },

    async auditRecords({ before, limit }, filter) {
      if (limit === 0) return { items: [], next: null };
      const all = indexed(filter);
      const rest = before === null ? all : all.where('position', '<', before);
      const last = await rest
        .select('position')
        .orderBy('position', 'desc')
        .offset(MAX_LOOK - 1)
        .limit(1)
        .executeTakeFirst();
      let look = last === undefined ? rest : rest.where('position', '>=', last.position);
      const { resource, resourceId, keyId } = filter;
      // The expression keeps the database from using an index here. It would have to sort all records of the resource,
      // which are most of the table.
      if (resource !== undefined) look = look.where(sql<string>`resource || ''`, '=', resource);
      if (resourceId !== undefined) look = look.where('resource_id', '=', resourceId);
      if (keyId !== undefined) look = look.where('key_id', '=', keyId);
      const rows = await look.selectAll().orderBy('position', 'desc').limit(limit).execute();
      const isFull = rows.length === limit;
      return {
        items: rows.map((row) => recordOfRow(auditRecord, row)),
        next: (isFull ? rows.at(-1)?.position : last?.position) ?? null,
      };
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `audit_records`. */
export function auditWrites(connection: Connection) {
  const { db, now } = connection;
  const insert = preparedWrite(connection, (columns: Omit<Insertable<Tables['audit_records']>, 'position' | 'at'>) =>
    db.insertInto('audit_records').values({ ...columns, at: now() }),
  );
  return {
    async pruneAudit(before, limit) {
      // In the order of positions, so that the query ends at the first record that stays. The expression keeps the
      // database from using another index.
      const oldest = await db
        .selectFrom('audit_records')
        .select(['position', 'at'])
        .where(sql<string>`resource || ''`, 'in', ['transaction', 'signature'])
        .orderBy('position')
        .limit(limit)
        .execute();
      const old = oldest.filter(({ at }) => at < before).map(({ position }) => position);
      if (old.length > 0) await db.deleteFrom('audit_records').where('position', 'in', old).execute();
      return old.length;
    },

    async insertAuditRecord({ secrets = [], ...change }) {
      await insert(auditRecord.write({ ...change, secrets }));
    },
  } satisfies Partial<StoreWriter>;
}
