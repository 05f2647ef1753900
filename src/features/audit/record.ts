import { z } from 'zod';
import { isObject, type WireObject } from '../../domain/json/json.ts';
import { parseJson, writeJson } from '../../domain/json/json-text.ts';
import {
  type Column,
  defineRecord,
  enumColumn,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  jsonColumn,
  nullableColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../domain/record.ts';
import { RESOURCE_PATHS, type ResourceName } from '../api-keys/records/access.ts';

/** What clients can change or ask for, as audit records name it. */
export const auditedResourceSchema = z.enum([
  ...new Set([
    ...(['relayer', 'notification', 'delivery', 'transaction', 'network', 'signer', 'plugin', 'api_key'] as const),
    ...(['signature', ...Object.keys(RESOURCE_PATHS)] as ('signature' | ResourceName)[]),
  ]),
]);

export const auditActionSchema = z.enum([
  'create',
  'update',
  'delete',
  'redeliver',
  'send',
  'replace',
  'cancel',
  'sign',
  'pass',
  'fire',
  'pause',
  'resume',
]);

/** A resource as answers show it, so without secrets. Integers beyond 2^53 are read as their digits. */
const viewColumn: Column<WireObject, string> = {
  schema: z
    .string()
    .transform((text) => parseJson(text, 'exact'))
    .pipe(z.custom<WireObject>(isObject, 'not a JSON object')),
  write: writeJson,
};

const columns = {
  /** Rises with each record. */
  position: generatedColumn(integerColumn),
  at: timestampColumn,
  keyId: textColumn,
  requestId: proseColumn,
  action: enumColumn(auditActionSchema),
  resource: enumColumn(auditedResourceSchema),
  resourceId: textColumn,
  /** The resource before the change; null where there was none. */
  before: nullableColumn(viewColumn),
  /** The same after the change; null where it is gone. */
  after: nullableColumn(viewColumn),
  /** The fields that no answer shows and that the change set or removed. */
  secrets: jsonColumn<readonly string[]>(z.array(z.string())),
};

export const auditRecord = defineRecord('audit_records', columns, { key: ['position'] });

/** A stored change, with who made it. */
export interface AuditRecord extends FieldsOf<typeof columns> {}

/** What a change did to one resource. */
export type AuditedChange = Pick<AuditRecord, 'action' | 'resource' | 'resourceId' | 'before' | 'after'> &
  Partial<Pick<AuditRecord, 'secrets'>>;

/** Which records are asked for; an absent field matches anything. */
export interface AuditFilter {
  resource?: AuditRecord['resource'] | undefined;
  resourceId?: string | undefined;
  /** Done with this key. */
  keyId?: string | undefined;
}
