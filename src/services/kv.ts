import { invalidRequest } from '../domain/errors.ts';
import type { Store } from '../store/store.ts';
import { writeOnce } from './effects.ts';
import type { KvService } from './services.ts';

const KEY = /^[A-Za-z0-9:_-]{1,512}$/;

/** The plugins' key-value store: each plugin sees its own keys only. */
export function createKvService(store: Store): KvService {
  return {
    async get(pluginId, key) {
      checkKey(key);
      return (await store.read.kvGet(pluginId, key)) ?? null;
    },

    async set(pluginId, key, value, ttlSec, effect) {
      checkKey(key);
      // The type says so, but what comes from a guest may lack it.
      if (value === undefined) throw invalidRequest('value must not be undefined');
      const seconds = Math.floor(Number(ttlSec ?? 0));
      const expiresAt = seconds > 0 ? (await store.now()) + seconds * 1000 : null;
      await writeOnce(store, effect, async (writer) => {
        await writer.kvSet(pluginId, key, value, expiresAt);
        return { outcome: true };
      });
      return true;
    },

    async del(pluginId, key, effect) {
      checkKey(key);
      const { made } = await writeOnce(store, effect, async (writer) => ({
        outcome: await writer.kvDelete(pluginId, key),
      }));
      return made.outcome === true;
    },

    async exists(pluginId, key) {
      checkKey(key);
      return (await store.read.kvGet(pluginId, key)) !== undefined;
    },
  };
}

function checkKey(key: string): void {
  if (!KEY.test(key)) throw invalidRequest('invalid key');
}
