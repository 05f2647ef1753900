import { setTimeout as delay } from 'node:timers/promises';
import { FIXED_LIMITS } from '../../../sandbox/contract.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyedEffect } from '../../domain/idempotency.ts';
import type { Json } from '../../domain/json/json.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import { earlierEffect, writeEffectOnce } from '../recorded-effects.ts';
import type { KvService } from '../services.ts';
import { PluginWrites } from './plugin-writes.ts';
import type { KvCaller, KvQuota, KvUsage } from './records/kv.ts';

const KEY = /^[A-Za-z0-9:_-]{1,512}$/;
const PREFIX = /^[A-Za-z0-9:_-]{0,512}$/;
/** The longest lifetime: a century. The limit keeps expiry times in range. */
const MAX_MS = 100 * 365 * 86_400_000;
/** The most expired values that one commit removes to make room. */
const RECLAIMED = 100;
/** How often, and how long apart, a rerun tries to take a lock that its earlier run had. */
const LOCK_TRIES = 50;
const LOCK_RETRY_MS = 100;

/** The recorded outcomes of asking for a lock. */
const HELD = 'held';
const BUSY = 'busy';

export interface KvDeps {
  store: Store;
  /** A new UUID. */
  newId(): string;
}

/** The plugins' key-value store: each plugin sees its own keys only. */
export function createKvService({ store, newId }: KvDeps): KvService {
  const writes = new PluginWrites(store);
  const owner = newId();
  const isAlone = store.leases.lastsMs === Number.POSITIVE_INFINITY;

  /** Writes when it is the plugin's turn, if all its locks are still held. A named effect is written once. */
  async function write<T extends Json>(
    { pluginId, locks }: KvCaller,
    bytes: number,
    effect: KeyedEffect | undefined,
    body: (writer: StoreWriter) => Promise<T>,
  ): Promise<T> {
    const fenced = underLocks({ pluginId, locks }, body);
    if (effect === undefined) return await writes.run(pluginId, bytes, fenced);
    return await writes.runAlone(pluginId, async () => {
      const { made } = await writeEffectOnce(store, effect, async (writer) => ({ outcome: await fenced(writer) }));
      // The outcome of an earlier run has the same type, because the same body made it.
      return made.outcome as T;
    });
  }

  return {
    async get(pluginId, key) {
      checkKey(key);
      return (await store.read.kvGet(pluginId, key)) ?? null;
    },

    async set(caller, key, json, ttlSec, effect) {
      checkKey(key);
      const { pluginId, quota } = caller;
      const bytes = Buffer.byteLength(json);
      if (bytes > quota.valueBytes) {
        const limit = `the limit is ${quota.valueBytes} bytes (limits.kv_value_bytes)`;
        throw invalidRequest(`value is ${bytes} bytes of JSON; ${limit}`);
      }
      const forMs = lifetimeMs(ttlSec);
      const keep = () =>
        write(caller, bytes, effect, async (writer) => {
          const used = await writer.kvSet(pluginId, key, json, { forMs, quota });
          if (used !== undefined) throw new NoRoom(used, quota);
          return true;
        });
      for (;;) {
        try {
          return await keep();
        } catch (cause) {
          if (!(cause instanceof NoRoom)) throw cause;
          const isWider = await writes.run(pluginId, 0, (writer) => writer.kvReclaim(pluginId, RECLAIMED));
          if (!isWider) throw cause;
        }
      }
    },

    async del(caller, key, effect) {
      checkKey(key);
      return await write(caller, 0, effect, (writer) => writer.kvDelete(caller.pluginId, key));
    },

    async exists(pluginId, key) {
      checkKey(key);
      return await store.read.kvHas(pluginId, key);
    },

    async listKeys(pluginId, prefix, after) {
      if (!PREFIX.test(prefix)) throw invalidRequest('invalid prefix');
      if (after !== undefined) checkKey(after);
      return await store.read.kvKeys(pluginId, { prefix, after, limit: FIXED_LIMITS.kv_page });
    },

    async clear(caller, effect, signal) {
      const earlier = await earlierEffect(store.read, effect);
      if (earlier !== undefined) return Number(earlier.outcome);
      let cleared = 0;
      for (let after: string | undefined = ''; after !== undefined; ) {
        signal.throwIfAborted();
        const from: string = after;
        const clear = underLocks(caller, (writer) => writer.kvClear(caller.pluginId, from));
        const step = await writes.run(caller.pluginId, 0, clear);
        cleared += step.live;
        after = step.upTo;
      }
      if (effect === undefined) return cleared;
      // An earlier run may have ended half-way. The count then has only the keys that this rerun cleared.
      return Number((await writeEffectOnce(store, effect, async () => ({ outcome: cleared }))).made.outcome);
    },

    async lock({ pluginId }, name, forMs, effect, signal) {
      checkKey(name);
      const take = (writer: StoreWriter) => writer.kvLock(pluginId, name, { owner, isAlone, forMs });
      if (effect === undefined) return await writes.run(pluginId, 0, take);
      const takeAgain = () =>
        store.write(async (writer) => {
          const earlier = await earlierEffect(writer, effect);
          if (earlier?.outcome === BUSY) return null;
          const lock = await take(writer);
          if (earlier !== undefined) return lock ?? 'later';
          // The lock ends with the run at the latest, so this effect leaves nothing behind.
          await writer.insertEffect(effect, { outcome: lock === null ? BUSY : HELD, leavesNothing: true });
          return lock;
        });
      for (let tries = 0; tries < LOCK_TRIES; tries += 1) {
        if (tries > 0) await delay(LOCK_RETRY_MS, undefined, { signal });
        const lock = await writes.runAlone(pluginId, takeAgain);
        if (lock !== 'later') return lock;
      }
      // The first run held the lock and went on. So this run can neither go on without the lock nor report it as busy.
      throw new AppError('LOCK_HELD_ELSEWHERE', { name }, { retryAfterSeconds: 1 });
    },

    unlock: (pluginId, lock) => writes.run(pluginId, 0, (writer) => writer.kvUnlock(pluginId, lock)),
  };
}

/** The quota has no room for a value. */
class NoRoom extends AppError<'INVALID_REQUEST'> {
  constructor(used: KvUsage, quota: KvQuota) {
    super('INVALID_REQUEST', {
      reason:
        `no room for this value: the plugin keeps ${used.keys} keys and may keep ${quota.keys} (limits.kv_keys), ` +
        `and ${used.bytes} bytes of ${quota.bytes} (limits.kv_bytes)`,
    });
  }
}

/** Wraps a write body: it is refused if one of the locks is no longer held. */
function underLocks<T>(
  { pluginId, locks }: Pick<KvCaller, 'pluginId' | 'locks'>,
  body: (writer: StoreWriter) => Promise<T>,
): (writer: StoreWriter) => Promise<T> {
  return async (writer) => {
    const lost = await writer.kvLostLock(pluginId, locks);
    if (lost === undefined) return await body(writer);
    throw invalidRequest(`lock lost: the time of lock ${lost.name} was over before this write, so it was not made`);
  };
}

function checkKey(key: string): void {
  if (!KEY.test(key)) throw invalidRequest('invalid key');
}

/**
 * Returns the lifetime in milliseconds; undefined: the value does not expire. A number that is not positive is no
 * lifetime.
 */
function lifetimeMs(ttlSec: number | undefined): number | undefined {
  if (ttlSec === undefined || !(ttlSec > 0)) return undefined;
  return Math.min(ttlSec * 1000, MAX_MS);
}
