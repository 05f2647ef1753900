import { z } from 'zod';
import { idSchema } from '../../../domain/id.ts';
import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  jsonObjectColumn,
  nullableColumn,
  sealedColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';

const columns = {
  id: textColumn,
  type: enumColumn(z.literal('webhook')),
  /** Absolute, `http` or `https`. Anyone who knows a receiver's address can often write to it. */
  url: sealedColumn(textColumn),
  /** What the configuration file said at the last start, without secrets; null for a notification made over the API. */
  declaration: nullableColumn(sealedColumn(jsonObjectColumn)),
};

export const notificationRecord = defineRecord('notifications', columns, {
  beside: {
    createdAt: timestampColumn,
    signingKey: nullableColumn(sealedColumn(textColumn)),
    secondSigningKey: nullableColumn(sealedColumn(textColumn)),
  },
});

/** The stored fields of a notification, besides its keys. */
export interface NotificationFields extends FieldsOf<typeof columns> {}

/**
 * A webhook target. The signing key is not part of it, so that no view, log line or error can contain a key. Only the
 * store's `signingKeys` gives the key, as an object that does not print.
 */
export interface Notification extends NotificationFields {
  hasSigningKey: boolean;
  /** Whether it has a second key, for the time in which receivers change from one key to another. */
  hasSecondSigningKey: boolean;
}

/** The fields of a notification's keys, as the wire names them. The first key signs, and the second signs beside it. */
export type SigningKeyField = 'signing_key' | 'second_signing_key';

/**
 * A key of fewer bytes can be guessed from what it signed. The reference refuses such keys; here they cause a warning.
 */
export const MIN_SIGNING_KEY_BYTES = 32;

const MAX_URL = 2_048;

const urlSchema = z
  .string()
  .max(MAX_URL, `must have at most ${MAX_URL} characters`)
  .refine(isWebAddress, 'Invalid URL format: an absolute http or https URL is expected')
  .meta({ format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://' });

/** The body that creates a notification. */
export const notificationCreateSchema = z.strictObject({
  id: idSchema.nullish(),
  type: z.literal('webhook').nullish(),
  url: urlSchema,
  signing_key: z.string().min(1, 'must not be empty').nullish(),
  second_signing_key: z.string().min(1, 'must not be empty').nullish(),
});

/** The body that updates a notification. Absent fields stay. An empty text removes a key; null leaves it. */
export const notificationUpdateSchema = z.strictObject({
  url: urlSchema.optional(),
  type: z.literal('webhook').optional(),
  signing_key: z.string().nullish(),
  second_signing_key: z.string().nullish(),
});

/** Whether the address is the operator's own, not one that a client has set since. */
export function hasDeclaredAddress({ url, declaration }: Pick<Notification, 'url' | 'declaration'>): boolean {
  return declaration !== null && declaration['url'] === url;
}

/**
 * Whether a text is an http or https URL without spaces and control characters. URL parsers drop these, so the called
 * address would not be the stored one.
 */
function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) && URL.canParse(text);
}
