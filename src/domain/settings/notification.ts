import { z } from 'zod';
import { idSchema } from '../id.ts';
import type { JsonObject } from '../json/json.ts';

/**
 * A webhook target. Its signing key is no part of it, so that no view, log line or error can carry one: only the
 * store's `signingKeys` gives it, as an object that does not print.
 */
export interface Notification {
  id: string;
  type: 'webhook';
  /** Absolute, `http` or `https`. */
  url: string;
  hasSigningKey: boolean;
  /** A second one, while receivers change from one key to another. */
  hasSecondSigningKey: boolean;
  /** What the configuration file said at the last start, secrets left out; null for one made over the API. */
  declaration: JsonObject | null;
}

/** What is stored of one beside its keys. */
export type NotificationFields = Omit<Notification, 'hasSigningKey' | 'hasSecondSigningKey'>;

/** The fields of its keys, as the wire names them: the first signs, the second signs beside it. */
export type SigningKeyField = 'signing_key' | 'second_signing_key';

/** A key of fewer bytes can be guessed from what it signed; the reference refuses those, here it is a warning. */
export const LEAST_SIGNING_KEY_BYTES = 32;

const LONGEST_URL = 2_048;

const urlSchema = z
  .string()
  .max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`)
  .refine(isWebAddress, 'Invalid URL format: an absolute http or https URL is expected');

/** The body that creates a notification. */
export const notificationCreateSchema = z.strictObject({
  id: idSchema.nullish(),
  type: z.literal('webhook').nullish(),
  url: urlSchema,
  signing_key: z.string().min(1, 'must not be empty').nullish(),
  second_signing_key: z.string().min(1, 'must not be empty').nullish(),
});

/** The body that updates one: what is absent stays. An empty text removes a key, null leaves it. */
export const notificationUpdateSchema = z.strictObject({
  url: urlSchema.optional(),
  type: z.literal('webhook').optional(),
  signing_key: z.string().nullish(),
  second_signing_key: z.string().nullish(),
});

/** Whether its address is the operator's own, and not one that a client gave it since. */
export function hasDeclaredAddress({ url, declaration }: Pick<Notification, 'url' | 'declaration'>): boolean {
  return declaration !== null && declaration['url'] === url;
}

/** URL parsers drop spaces and control characters, so that what is stored would not be what is called. */
function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) && URL.canParse(text);
}
