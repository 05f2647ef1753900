import { z } from 'zod';
import {
  defineRecord,
  type FieldsOf,
  jsonColumn,
  nullableColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import { isPermission, permissionForms, permissionPattern } from './access.ts';

/** How often a key may ask. */
export interface KeyRate {
  perSecond: number;
  burst: number;
}

/** A rate that several keys share, with the id of the key that it is set for. */
export interface RateShare {
  readonly id: string;
  /** Null: the rate of the service. */
  readonly rate: KeyRate | null;
}

const keyRateSchema = z.strictObject({ perSecond: z.number(), burst: z.number() });

const columns = {
  id: textColumn,
  name: proseColumn,
  createdAt: timestampColumn,
  permissions: jsonColumn(z.array(z.string())),
  /** Origins of pages that may use the key; `*` for any. A client that is not a page has no origin. */
  allowedOrigins: jsonColumn(z.array(z.string())),
  /** Null: the rate of the service. */
  rate: nullableColumn(jsonColumn(keyRateSchema)),
  /** Null: the key does not expire. */
  expiresAt: nullableColumn(timestampColumn),
  /** The keys that made it, the first one of the line first, with the rates that they had then. */
  ancestors: jsonColumn(z.array(z.strictObject({ id: z.string(), rate: keyRateSchema.nullable() }))),
};

export const apiKeyRecord = defineRecord('api_keys', columns, {
  fixed: ['id', 'createdAt', 'ancestors'],
  /** SHA-256 of the key, in hexadecimal. */
  beside: { hash: textColumn },
});

/** An API key. The key itself is not stored, only a hash of it. */
export interface ApiKey extends FieldsOf<typeof columns> {}

/** Whether a page of `origin` may use a key with these `origins`. With `*` as `origin`: whether they allow any page. */
export function allowsOrigin(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}

const MAX_PERMISSIONS = 200;

const rateSchema = z.strictObject({
  requests_per_second: z.int().min(1).max(1_000_000),
  burst: z.int().min(1).max(1_000_000),
});

const originSchema = z
  .string()
  .max(300, 'must have at most 300 characters')
  .refine(
    (text) => text === '*' || URL.parse(text)?.origin === text,
    'must be an origin such as https://app.example, or *',
  )
  .meta({
    pattern: '^(\\*|[a-z]+://[^/?#\\s]+)$',
    description: 'An origin as browsers send it: in lower case, without a default port or a path; or `*` for any',
  });

const nameSchema = z.string().min(1, 'must not be empty').max(256, 'must have at most 256 characters');
const permissionSchema = z
  .string()
  .max(200, 'must have at most 200 characters')
  .refine(isPermission, { error: () => `is not a permission; valid are ${permissionForms()}` })
  .meta({ pattern: permissionPattern() });
const permissionsSchema = z
  .array(permissionSchema)
  .min(1, 'name at least one')
  .max(MAX_PERMISSIONS, `must have at most ${MAX_PERMISSIONS} entries`);
const originsSchema = z.array(originSchema).min(1).max(100);
const endSchema = z.iso.datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z' });

/** The body that makes an API key. */
export const apiKeyCreateSchema = z.strictObject({
  name: nameSchema,
  permissions: permissionsSchema,
  allowed_origins: originsSchema.nullish(),
  expires_at: endSchema.nullish(),
  rate_limit: rateSchema.nullish(),
});

/** The body that changes a key. Absent fields stay. Null removes an expiry or a rate of the key's own. */
export const apiKeyUpdateSchema = z.strictObject({
  name: nameSchema.optional(),
  permissions: permissionsSchema.optional(),
  allowed_origins: originsSchema.optional(),
  expires_at: endSchema.nullish(),
  rate_limit: rateSchema.nullish(),
});
