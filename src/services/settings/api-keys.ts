import { hash } from 'node:crypto';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import type { Access } from '../../domain/settings/access.ts';
import { type ApiKey, apiKeyCreateSchema, MASTER_KEY_ID } from '../../domain/settings/api-key.ts';
import type { AuditedChange } from '../../domain/settings/audit.ts';
import type { Caller } from '../../domain/settings/caller.ts';
import type { Timestamp } from '../../domain/transaction/transaction.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Reader, Store } from '../../store/store.ts';
import { parseBody } from '../request-body.ts';
import { changeOnce } from './change.ts';
import type { SettingsFeed } from './settings-feed.ts';

/** The keys of callers. Only the answer that makes one shows it. */
export interface ApiKeysService {
  get(id: string): Promise<WireObject>;
  list(page: PageRequest): Promise<Page<WireObject>>;
  permissions(id: string): Promise<string[]>;
  /** 400; 403 for a permission that the caller does not have. The answer has the key as `key`. */
  create(body: unknown, by: Caller, access: Access): Promise<WireObject>;
  /** It is accepted no more. 404; 400 for that of the environment. */
  revoke(id: string, by: Caller): Promise<void>;
}

export interface ApiKeysDeps {
  store: Store;
  feed: Pick<SettingsFeed, 'changed'>;
  randomBytes(size: number): Uint8Array;
  /** When the service came to its key, which has no other beginning. */
  startedAt: Timestamp;
  /** A new UUID v4. */
  newId(): string;
}

/** Tells a key of ours from other words, to people and to those who search for leaked ones. */
const PREFIX = 'iso_';
const KEY_BYTES = 32;

export function createApiKeysService({ store, feed, randomBytes, startedAt, newId }: ApiKeysDeps): ApiKeysService {
  const master: ApiKey = {
    ...{ id: MASTER_KEY_ID, name: MASTER_KEY_ID, createdAt: startedAt, permissions: ['*'], allowedOrigins: ['*'] },
    ...{ rate: null, expiresAt: null },
  };

  async function find(read: Pick<Reader, 'apiKey'>, id: string): Promise<ApiKey> {
    const key = id === MASTER_KEY_ID ? master : await read.apiKey(id);
    if (key === undefined) throw new AppError('API_KEY_NOT_FOUND', { id });
    return key;
  }

  return {
    async get(id) {
      return keyView(await find(store.read, id));
    },

    async list({ page, perPage }) {
      const { items, total } = await store.read.apiKeys({ page, perPage });
      // That of the environment comes last.
      const hasRoom = items.length < perPage && (page - 1) * perPage + items.length === total;
      return { items: [...items, ...(hasRoom ? [master] : [])].map(keyView), total: total + 1 };
    },

    async permissions(id) {
      return (await find(store.read, id)).permissions;
    },

    async create(body, by, access) {
      const form = parseBody(apiKeyCreateSchema, body);
      const beyond = access.lacks(form.permissions);
      if (beyond !== undefined) throw new AppError('PERMISSION_NOT_HELD', { permission: beyond });
      const expiresAt = form.expires_at == null ? null : Date.parse(form.expires_at);
      if (expiresAt !== null && expiresAt <= (await store.now())) throw invalidRequest('expires_at: is in the past');
      const key = `${PREFIX}${Buffer.from(randomBytes(KEY_BYTES)).toString('base64url')}`;
      const id = newId();
      const { rate_limit: rate } = form;
      const made = {
        ...{ id, name: form.name, permissions: form.permissions, allowedOrigins: form.allowed_origins ?? ['*'] },
        rate: rate == null ? null : { perSecond: rate.requests_per_second, burst: rate.burst },
        expiresAt,
      };
      const written = await changeOnce(store, by, async (writer) => {
        await writer.insertApiKey(made, hashOfKey(key));
        const after = keyView(await find(writer, id));
        return { outcome: null, after, audit: audited('create', id, { before: null, after }) };
      });
      // The key that the first run made is nowhere: nobody can be given it again.
      if (written.isRepeat) throw new AppError('ANSWER_NOT_KEPT', { status: '201' });
      await feed.changed('api_key');
      return { ...written.made.after, key };
    },

    async revoke(id, by) {
      await changeOnce(store, by, async (writer) => {
        if (id === MASTER_KEY_ID) throw invalidRequest('The key of the environment can only be changed there');
        const before = keyView(await find(writer, id));
        await writer.deleteApiKey(id);
        return { outcome: null, audit: audited('delete', id, { before, after: null }) };
      });
      await feed.changed('api_key');
    },
  };
}

/** What is kept of a key: with 256 random bits it needs no salt, and cannot be guessed. */
export function hashOfKey(key: string): string {
  return hash('sha256', key);
}

/** Keys in the reference's order, then ours. */
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
