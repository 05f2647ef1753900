import { hash } from 'node:crypto';
import { z } from 'zod';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { moment, wireTime } from '../../domain/wire-time.ts';
import type { StoreWriter } from '../../store/store.ts';
import { parseBody } from '../request-body.ts';
import { resource } from '../resource.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';
import { MASTER_KEY_ID } from './records/access.ts';
import { type ApiKey, allowsOrigin, apiKeyCreateSchema, apiKeyUpdateSchema } from './records/api-key.ts';
import type { Caller } from './records/caller.ts';

/** An API key without the key. */
const apiKeySchema = z.strictObject({
  id: z.string().meta({ description: 'Id of the key, as in logs, audit records and `context.caller`' }),
  name: z.string(),
  allowed_origins: z.array(z.string()).meta({
    description:
      'Origins of the web pages that may use the key; `*` allows any. A request with another `Origin` gets 403; ' +
      'a request without `Origin` is allowed',
  }),
  created_at: moment,
  permissions: z.array(z.string()),
  rate_limit: z
    .strictObject({ requests_per_second: z.int().min(1), burst: z.int().min(1) })
    .nullable()
    .meta({ description: 'Rate limit of the key; null if the rate limit of the service applies' }),
  expires_at: moment.nullable(),
});

/** A created API key. Only this answer contains the key itself. */
const newKeySchema = apiKeySchema.extend({
  key: z.string().meta({ description: 'The key itself, shown only in this response; the service keeps only a hash' }),
});

export interface ApiKeysDeps {
  randomBytes(size: number): Uint8Array;
  /** The start of the service. It stands in for the creation time of the environment's key. */
  startedAt: Timestamp;
}

/** The limits of a key apart from its permissions. */
type Bounds = Pick<ApiKey, 'expiresAt' | 'rate' | 'allowedOrigins' | 'ancestors'>;

/** The limits that a request asks for. */
type Asked = { [K in Exclude<keyof Bounds, 'ancestors'>]?: Bounds[K] | undefined };

/** The prefix of keys. People and scanners for leaked keys recognise a key by it. */
const PREFIX = 'iso_';
const KEY_BYTES = 32;

/** The API keys of clients. The key itself is in the answer that creates it, and in no other. */
export const apiKeyResource = resource<ApiKey, ApiKeysDeps>({
  name: 'api_key',
  noun: 'API key',
  tag: 'API keys',
  about: 'Keys for this API, with their permissions.',
  exampleId: '5f0c8f4e-6f5b-4d5a-9d3c-2f1f6f1c2a10',
  schema: apiKeySchema,
  list: { answer: 'API keys, newest first; the key of the environment comes last' },
  create: {
    description:
      'A permission is `*`, or has the form `kind:action`, for instance `metrics:read`. For relayers and plugins it ' +
      'may name an id: `relayers:my-relayer:send`, `plugins:*:call`. A resource on which a key has no permission ' +
      'does not exist for that key. A key cannot grant permissions that it does not have. `allowed_origins` ' +
      'restricts which web pages may use the new key; if absent, they are those of the key that makes the request. ' +
      'They do not open the API to other origins, because no response has CORS headers. A repeat with the same ' +
      'idempotency key does not create a second key, and does not show the first key again.',
    body: {
      schema: apiKeyCreateSchema,
      example: { name: 'Payments', permissions: ['relayers:my-relayer:send'], expires_at: '2030-01-01T00:00:00Z' },
    },
    answer: 'The created key',
    schema: newKeySchema,
    answersSecret: true,
    errors: ['PERMISSION_NOT_HELD'],
  },
  update: {
    description:
      'Absent fields do not change. Null removes the expiry or the rate limit of the key. The change takes effect ' +
      'with the next request, and on other instances within a second. A key cannot change a key that may do more ' +
      'than itself.',
    body: { schema: apiKeyUpdateSchema, example: { permissions: ['relayers:my-relayer:read'] } },
    answer: 'The key after the change',
    errors: ['PERMISSION_NOT_HELD'],
  },
  remove: {
    summary: 'Revoke an API key',
    description:
      'The key is no longer accepted. Other instances may accept it for up to a second. A key cannot revoke a key ' +
      'that may do more than itself.',
    answer: 'The key is revoked',
    errors: ['PERMISSION_NOT_HELD'],
  },
  isCached: true,

  // The fields are in the reference's order, followed by our own.
  view: ({ id, name, allowedOrigins, createdAt, permissions, rate, expiresAt }) => ({
    id,
    name,
    allowed_origins: allowedOrigins,
    created_at: wireTime(createdAt),
    permissions,
    rate_limit: rate && { requests_per_second: rate.perSecond, burst: rate.burst },
    expires_at: expiresAt === null ? null : wireTime(expiresAt),
  }),

  on({ store, randomBytes, startedAt, newId }) {
    const master: ApiKey = {
      id: MASTER_KEY_ID,
      name: MASTER_KEY_ID,
      createdAt: startedAt,
      permissions: ['*'],
      allowedOrigins: ['*'],
      rate: null,
      expiresAt: null,
      ancestors: [],
    };

    /**
     * A key's expiry, rate and origins limit the keys that it creates or changes. Otherwise a key that expires could go
     * on under another name, and a key with a rate could multiply it.
     */
    async function boundsOf(writer: Pick<StoreWriter, 'apiKey'>, { keyId }: Caller): Promise<Bounds> {
      return (await writer.apiKey(keyId)) ?? master;
    }

    /** @throws AppError `INVALID_REQUEST` for an expiry in the past */
    async function endOf(text: string | null | undefined): Promise<Timestamp | null> {
      if (text == null) return null;
      const end = Date.parse(text);
      if (end <= (await store.now())) throw invalidRequest('expires_at: is in the past');
      return end;
    }

    async function written(writer: Pick<StoreWriter, 'apiKey'>, id: string) {
      const now = await writer.apiKey(id);
      if (now === undefined) throw new Error(`There is no API key ${id}`);
      return { now };
    }

    return {
      find: async (read, id) => (id === MASTER_KEY_ID ? master : await read.apiKey(id)),

      async list(read, { page, perPage }) {
        const { items, total } = await read.apiKeys({ page, perPage });
        // The environment's key comes last.
        const hasRoom = items.length < perPage && (page - 1) * perPage + items.length === total;
        return { items: [...items, ...(hasRoom ? [master] : [])], total: total + 1 };
      },

      async create(body, by) {
        const form = parseBody(apiKeyCreateSchema, body);
        assertHeld(by, form.permissions);
        const expiresAt = await endOf(form.expires_at);
        const key = `${PREFIX}${Buffer.from(randomBytes(KEY_BYTES)).toString('base64url')}`;
        const id = newId();
        return {
          id,
          // Only a hash of the key is stored, so no repeat can return it.
          shownOnce: { key },
          async write(writer) {
            const bounds = await boundsOf(writer, by);
            const made = {
              id,
              name: form.name,
              permissions: form.permissions,
              allowedOrigins: form.allowed_origins ?? bounds.allowedOrigins,
              rate: rateOf(form.rate_limit) ?? bounds.rate,
              expiresAt: expiresAt ?? bounds.expiresAt,
              ancestors: by.keyId === MASTER_KEY_ID ? [] : [...bounds.ancestors, { id: by.keyId, rate: bounds.rate }],
            };
            assertWithin(bounds, made);
            await writer.insertApiKey(made, hashOfKey(key));
            return written(writer, id);
          },
        };
      },

      async update(body, by) {
        const form = parseBody(apiKeyUpdateSchema, body);
        const expiresAt = form.expires_at === undefined ? undefined : await endOf(form.expires_at);
        return {
          async write(writer, before) {
            const { id } = before;
            assertChangeable(id);
            const {
              name = before.name,
              permissions = before.permissions,
              allowed_origins: allowedOrigins = before.allowedOrigins,
            } = form;
            // Even the expiry of a key with more permissions than the caller cannot be changed.
            assertHeld(by, [...before.permissions, ...permissions]);
            const rate = form.rate_limit === undefined ? undefined : rateOf(form.rate_limit);
            // Only changed limits are checked.
            assertWithin(await boundsOf(writer, by), { expiresAt, rate, allowedOrigins: form.allowed_origins });
            await writer.updateApiKey({
              id,
              name,
              permissions,
              allowedOrigins,
              rate: rate === undefined ? before.rate : rate,
              expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
            });
            return written(writer, id);
          },
        };
      },

      assertRemovable({ id, permissions }, by) {
        assertChangeable(id);
        assertHeld(by, permissions);
      },
      remove: (writer, { id }) => writer.deleteApiKey(id),
    };
  },
});

/**
 * A caller can neither grant nor take away a permission that it does not have.
 * @throws AppError `PERMISSION_NOT_HELD`
 */
function assertHeld({ access }: Caller, permissions: readonly string[]): void {
  const beyond = access?.lacks(permissions);
  if (beyond !== undefined) throw new AppError('PERMISSION_NOT_HELD', { permission: beyond });
}

/**
 * Checks the same for expiry, rate and origins. Absent ones are not checked.
 * @throws AppError `PERMISSION_NOT_HELD`
 */
function assertWithin(own: Bounds, { expiresAt, rate, allowedOrigins = [] }: Asked): void {
  if (own.expiresAt !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > own.expiresAt)) {
    throw new AppError('PERMISSION_NOT_HELD', { permission: 'a later end' });
  }
  if (
    own.rate !== null &&
    rate !== undefined &&
    (rate === null || rate.perSecond > own.rate.perSecond || rate.burst > own.rate.burst)
  ) {
    throw new AppError('PERMISSION_NOT_HELD', { permission: 'a higher rate' });
  }
  const beyond = allowedOrigins.find((origin) => !allowsOrigin(own.allowedOrigins, origin));
  if (beyond !== undefined) throw new AppError('PERMISSION_NOT_HELD', { permission: `use from ${beyond}` });
}

function assertChangeable(id: string): void {
  if (id === MASTER_KEY_ID) throw invalidRequest('The key of the environment can only be changed there');
}

function rateOf(rate: { requests_per_second: number; burst: number } | null | undefined): ApiKey['rate'] {
  return rate == null ? null : { perSecond: rate.requests_per_second, burst: rate.burst };
}

/** Returns the stored hash of a key. A key has 256 random bits, so it needs no salt and cannot be guessed. */
export function hashOfKey(key: string): string {
  return hash('sha256', key);
}
