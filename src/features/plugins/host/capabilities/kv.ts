import { z } from 'zod';
import { FIXED_LIMITS } from '../../../../../sandbox/contract.ts';
import { type AppError, invalidRequest } from '../../../../domain/errors.ts';
import { defineCapability } from './capability.ts';
import type { RequiredGrant } from './grants.ts';

/** The store decides which keys are valid, and refuses others with the reference's text. */
const ofKey = z.strictObject({ key: z.string() });

const grant = (): RequiredGrant => ({ kv: true });
const never = () => false;
const always = () => true;

/** The plugin reads errors such as `invalid key` word for word, but not faults inside the service. */
const failure = (error: AppError): string =>
  error.status === 400 ? error.message : `Key-value store error: ${error.publicMessage}`;

export const kvGet = defineCapability({
  method: 'kv.get',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: never,
  handle: ({ kv }, { key }, { pluginId }) => kv.get(pluginId, key),
  failure,
});

export const kvSet = defineCapability({
  method: 'kv.set',
  needs: ['kv'],
  params: z.strictObject({ key: z.string(), value: z.string(), ttlSec: z.number().exactOptional() }),
  grant,
  effect: always,
  handle: ({ kv }, { key, value, ttlSec }, { kvCaller, effect }) => kv.set(kvCaller, key, value, ttlSec, effect),
  failure,
});

export const kvDel = defineCapability({
  method: 'kv.del',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: always,
  handle: ({ kv }, { key }, { kvCaller, effect }) => kv.del(kvCaller, key, effect),
  failure,
});

export const kvExists = defineCapability({
  method: 'kv.exists',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: never,
  handle: ({ kv }, { key }, { pluginId }) => kv.exists(pluginId, key),
  failure,
});

export const kvListKeys = defineCapability({
  method: 'kv.listKeys',
  needs: ['kv'],
  params: z.strictObject({ prefix: z.string(), after: z.string().exactOptional() }),
  grant,
  effect: never,
  handle: ({ kv }, { prefix, after }, { pluginId }) => kv.listKeys(pluginId, prefix, after),
  failure,
});

export const kvClear = defineCapability({
  method: 'kv.clear',
  needs: ['kv'],
  params: z.strictObject({}),
  grant,
  effect: always,
  handle: ({ kv }, _, { kvCaller, effect, signal }) => kv.clear(kvCaller, effect, signal),
  failure,
});

export const kvLock = defineCapability({
  method: 'kv.lock',
  needs: ['kv'],
  params: z.strictObject({ key: z.string(), ttlSec: z.number().positive() }),
  grant,
  effect: always,
  async handle({ kv }, { key, ttlSec }, { kvCaller, locks, effect, signal, timeoutMs }) {
    if (locks.full) throw invalidRequest(`a call may hold at most ${FIXED_LIMITS.locks} locks`);
    // A lock ends with its call. A longer time would only keep others waiting after a crash.
    const forMs = Math.min(ttlSec * 1000, timeoutMs);
    const lock = await kv.lock(kvCaller, key, forMs, effect, signal);
    if (lock === null) return null;
    // If the release fails, the lock ends when its time is over.
    locks.hold(lock, () => void kv.unlock(kvCaller.pluginId, lock).catch(() => {}));
    return lock.fence;
  },
  failure,
});

export const kvUnlock = defineCapability({
  method: 'kv.unlock',
  needs: ['kv'],
  params: z.strictObject({ key: z.string(), fence: z.int() }),
  grant,
  // It releases a lock that `kv.lock` took. A second release is harmless.
  effect: never,
  async handle({ kv }, { fence }, { pluginId, locks }) {
    const held = locks.letGo(fence);
    if (held === undefined) return false;
    try {
      return await kv.unlock(pluginId, held.lock);
    } catch (error) {
      // The end of the call tries again to release the lock.
      locks.hold(held.lock, held.release);
      throw error;
    }
  },
  failure,
});
