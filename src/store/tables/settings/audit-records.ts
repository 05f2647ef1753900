import { z } from 'zod';
import { isObject, type JsonObject } from '../../../domain/json/json.ts';
import { parseJson, writeJson } from '../../../domain/json/json-text.ts';
import {
  type AuditFilter,
  type AuditRecord,
  auditActionSchema,
  auditedResourceSchema,
} from '../../../domain/settings/audit.ts';
import type { Connection } from '../../connection.ts';
import type { Reader, Writer } from '../../store.ts';
import { pageBounds, totalOf } from '../lists/paging.ts';
import { jsonText, readRecord, storableText, timestampSchema } from '../stored-record.ts';

/** Integers beyond 2^53 come back as their digits. */
const viewSchema = z
  .string()
  .transform((text) => parseJson(text, 'exact'))
  .pipe(z.custom<JsonObject>(isObject, 'not a JSON object'));

const rowSchema = z
  .object({
    position: z.int(),
    at: timestampSchema,
    key_id: z.string(),
    request_id: z.string(),
    action: auditActionSchema,
    resource: auditedResourceSchema,
    resource_id: z.string(),
    before: viewSchema.nullable(),
    after: viewSchema.nullable(),
    secrets: jsonText(z.array(z.string())),
  })
  .transform(
    ({ key_id: keyId, request_id: requestId, resource_id: resourceId, ...same }): AuditRecord => ({
      ...same,
      keyId,
      requestId,
      resourceId,
    }),
  );

/** Reads of the table `audit_records`. */
export function auditReads({ db }: Connection): Pick<Reader, 'auditRecords' | 'latestAuditRecord'> {
  const matching = ({ resource, resourceId }: AuditFilter) => {
    const all = db.selectFrom('audit_records');
    const ofResource = resource === undefined ? all : all.where('resource', '=', resource);
    return resourceId === undefined ? ofResource : ofResource.where('resource_id', '=', resourceId);
  };
  return {
    async latestAuditRecord() {
      const row = await db
        .selectFrom('audit_records')
        .select('position')
        .orderBy('position', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.position ?? 0;
    },

    async auditRecords(page, filter) {
      const { limit, offset } = pageBounds(page);
      const rows = await matching(filter).selectAll().orderBy('position', 'desc').limit(limit).offset(offset).execute();
      const total = await matching(filter)
        .select((on) => on.fn.countAll<number>().as('total'))
        .execute();
      return {
        items: rows.map((row) => readRecord(rowSchema, 'audit_records', String(row.position), row)),
        total: totalOf(total),
      };
    },
  };
}

/** Writes of the table `audit_records`. */
export function auditWrites({ db, now }: Connection): Pick<Writer, 'insertAuditRecord'> {
  return {
    async insertAuditRecord({ keyId, requestId, action, resource, resourceId, before, after, secrets = [] }) {
      await db
        .insertInto('audit_records')
        .values({
          at: now(),
          key_id: keyId,
          request_id: storableText(requestId),
          action,
          resource,
          resource_id: resourceId,
          before: before && writeJson(before),
          after: after && writeJson(after),
          secrets: JSON.stringify(secrets),
        })
        .execute();
    },
  };
}
