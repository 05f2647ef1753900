import { hash } from 'node:crypto';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts';
import type { AuditedChange } from '../audit/record.ts';
import { parseBody } from '../request-body.ts';
import { changeSettingsOnce } from '../settings-change.ts';
import type { SettingsFeed } from '../settings-feed.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';
import { type Access, MASTER_KEY_ID } from './records/access.ts';
import { type ApiKey, allowsOrigin, apiKeyCreateSchema, apiKeyUpdateSchema } from './records/api-key.ts';
import type { Caller } from './records/caller.ts';

/** The API keys of clients. The key itself is in the answer that creates it, and in no other. */
export interface ApiKeysService {
  get(id: string): Promise<WireObject>;
  /** The key that a request came with; 401 when it was revoked since. */
  current(id: string): Promise<WireObject>;
  list(page: PageRequest): Promise<Page<WireObject>>;
  permissions(id: string): Promise<string[]>;
  /** 400; 403 for a permission that the caller does not have. The answer has the key as `key`. */
  create(body: unknown, by: Caller, access: Access): Promise<WireObject>;
  /** The change takes effect with the next request. 404; 400; 403 for permissions that the caller does not have. */
  update(id: string, body: unknown, by: Caller, access: Access): Promise<WireObject>;
  /** Ends a key. 404; 400 for the environment's key; 403 for a key with more permissions than the caller. */
  revoke(id: string, by: Caller, access: Access): Promise<void>;
}

export interface ApiKeysDeps {
  store: Store;
  feed: Pick<SettingsFeed, 'changed'>;
  randomBytes(size: number): Uint8Array;
  /** The start of the service. It stands in for the creation time of the environment's key. */
  startedAt: Timestamp;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/** The limits of a key apart from its permissions. */
type Bounds = Pick<ApiKey, 'expiresAt' | 'rate' | 'allowedOrigins' | 'ancestors'>;

/** The limits that a request asks for. */
type Asked = { [K in Exclude<keyof Bounds, 'ancestors'>]?: Bounds[K] | undefined };

/** The prefix of keys. People and scanners for leaked keys recognise a key by it. */
const PREFIX = 'iso_';
const KEY_BYTES = 32;

export function createApiKeysService({ store, feed, randomBytes, startedAt, newId }: ApiKeysDeps): ApiKeysService {
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

  async function known(read: Pick<StoreReader, 'apiKey'>, id: string): Promise<ApiKey | undefined> {
    return id === MASTER_KEY_ID ? master : await read.apiKey(id);
  }

  async function find(read: Pick<StoreReader, 'apiKey'>, id: string): Promise<ApiKey> {
    const key = await known(read, id);
    if (key === undefined) throw new AppError('API_KEY_NOT_FOUND', { id });
    return key;
  }

  /**
   * A key's expiry, rate and origins limit the keys that it creates or changes. Otherwise a key that expires could go
   * on under another name, and a key with a rate could multiply it.
   */
  async function boundsOf(writer: StoreWriter, { keyId }: Caller): Promise<Bounds> {
    return (await writer.apiKey(keyId)) ?? master;
  }

  /** @throws AppError `INVALID_REQUEST` for an expiry in the past */
  async function endOf(text: string | null | undefined): Promise<Timestamp | null> {
    if (text == null) return null;
    const end = Date.parse(text);
    if (end <= (await store.now())) throw invalidRequest('expires_at: is in the past');
    return end;
  }

  return {
    async get(id) {
      return keyView(await find(store.read, id));
    },

    async current(id) {
      const key = await known(store.read, id);
      // Another instance has revoked the key, and this instance does not know yet.
      if (key === undefined) throw new AppError('UNAUTHORIZED', {});
      return keyView(key);
    },

    async list({ page, perPage }) {
      const { items, total } = await store.read.apiKeys({ page, perPage });
      // The environment's key comes last.
      const hasRoom = items.length < perPage && (page - 1) * perPage + items.length === total;
      return { items: [...items, ...(hasRoom ? [master] : [])].map(keyView), total: total + 1 };
    },

    async permissions(id) {
      return (await find(store.read, id)).permissions;
    },

    async create(body, by, access) {
      const form = parseBody(apiKeyCreateSchema, body);
      assertHeld(access, form.permissions);
      const expiresAt = await endOf(form.expires_at);
      const key = `${PREFIX}${Buffer.from(randomBytes(KEY_BYTES)).toString('base64url')}`;
      const id = newId();
      const written = await changeSettingsOnce(store, by, async (writer) => {
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
        const after = keyView(await find(writer, id));
        return { outcome: null, after, audit: audited('create', id, { before: null, after }) };
      });
      // The first run's key is not stored, so no repeat can return it.
      if (written.isRepeat) throw new AppError('ANSWER_NOT_KEPT', { status: '201' });
      await feed.changed('api_key');
      return { ...written.made.after, key };
    },

    async update(id, body, by, access) {
      const form = parseBody(apiKeyUpdateSchema, body);
      const expiresAt = form.expires_at === undefined ? undefined : await endOf(form.expires_at);
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        assertChangeable(id);
        const key = await find(writer, id);
        const {
          name = key.name,
          permissions = key.permissions,
          allowed_origins: allowedOrigins = key.allowedOrigins,
        } = form;
        // Even the expiry of a key with more permissions than the caller cannot be changed.
        assertHeld(access, [...key.permissions, ...permissions]);
        const rate = form.rate_limit === undefined ? undefined : rateOf(form.rate_limit);
        // Only changed limits are checked.
        assertWithin(await boundsOf(writer, by), { expiresAt, rate, allowedOrigins: form.allowed_origins });
        await writer.updateApiKey({
          id,
          name,
          permissions,
          allowedOrigins,
          rate: rate === undefined ? key.rate : rate,
          expiresAt: expiresAt === undefined ? key.expiresAt : expiresAt,
        });
        const after = keyView(await find(writer, id));
        return { outcome: after, audit: audited('update', id, { before: keyView(key), after }) };
      });
      await feed.changed('api_key');
      return made.outcome as WireObject;
    },

    async revoke(id, by, access) {
      await changeSettingsOnce(store, by, async (writer) => {
        assertChangeable(id);
        const key = await find(writer, id);
        assertHeld(access, key.permissions);
        const before = keyView(key);
        await writer.deleteApiKey(id);
        return { outcome: null, audit: audited('delete', id, { before, after: null }) };
      });
      await feed.changed('api_key');
    },
  };
}

/**
 * A caller can neither grant nor take away a permission that it does not have.
 * @throws AppError `PERMISSION_NOT_HELD`
 */
function assertHeld(access: Access, permissions: readonly string[]): void {
  const beyond = access.lacks(permissions);
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

/** The fields are in the reference's order, followed by our own. */
function keyView({ id, name, allowedOrigins, createdAt, permissions, rate, expiresAt }: ApiKey): JsonObject {
  return {
    id,
    name,
    allowed_origins: allowedOrigins,
    created_at: wireTime(createdAt),
    permissions,
    rate_limit: rate && { requests_per_second: rate.perSecond, burst: rate.burst },
    expires_at: expiresAt === null ? null : wireTime(expiresAt),
  };
}

function audited(
  action: AuditedChange['action'],
  resourceId: string,
  views: Pick<AuditedChange, 'before' | 'after'>,
): AuditedChange {
  return { action, resource: 'api_key', resourceId, ...views };
}
