import { z } from 'zod';
import { FIXED_LIMITS } from '../../../../../sandbox/contract.ts';
import { invalidRequest } from '../../../../domain/errors.ts';
import { type Capability, defineCapability, type ResultSchema } from './capability.ts';

/** The store decides which keys are valid, and refuses others with the reference's text. */
const key = z.string();

type KvCapability<S extends z.ZodRawShape, R extends ResultSchema> = Pick<
  Capability<z.ZodObject<S, z.core.$strict>, R, 'kv'>,
  'about' | 'signature' | 'result' | 'handle'
> & { params: S; writes: boolean };

/** A capability of `context.kv`. */
function ofKv<S extends z.ZodRawShape, R extends ResultSchema>(
  name: string,
  { params, writes, ...declared }: KvCapability<S, R>,
) {
  return defineCapability({
    ...declared,
    method: `kv.${name}`,
    needs: ['kv'],
    params: z.strictObject(params),
    grant: () => ({ kv: true }),
    effect: () => writes,
    // The plugin reads errors such as `invalid key` word for word, but not faults inside the service.
    failure: (error) => (error.status === 400 ? error.message : `Key-value store error: ${error.publicMessage}`),
  });
}

/** What plugins can ask of their key-value store. */
export const kvCapabilities = [
  ofKv('get', {
    about: 'Returns the stored value, or null if there is none.',
    signature: 'get<T = Json>(key: string): Promise<T | null>',
    params: { key },
    /** The value's JSON text. */
    result: z.string().nullable(),
    writes: false,
    handle: ({ kv }, { key: name }, { pluginId }) => kv.get(pluginId, name),
  }),

  ofKv('set', {
    about:
      'Stores a value as JSON. The value expires after `ttlSec` seconds, which may be a fraction. It does not expire if `ttlSec` is missing or not positive.',
    signature: 'set(key: string, value: unknown, options?: { ttlSec?: number }): Promise<boolean>',
    /** `value` is JSON text, see `RequestMessage`. */
    params: { key, value: z.string(), ttlSec: z.number().exactOptional() },
    result: z.boolean(),
    writes: true,
    handle: ({ kv }, { key: name, value, ttlSec }, { kvCaller, effect }) =>
      kv.set(kvCaller, name, value, ttlSec, effect),
  }),

  ofKv('del', {
    about: 'Deletes a value. Resolves with true if there was one.',
    params: { key },
    result: z.boolean(),
    writes: true,
    handle: ({ kv }, { key: name }, { kvCaller, effect }) => kv.del(kvCaller, name, effect),
  }),

  ofKv('exists', {
    about: 'Resolves with true if the key has a value.',
    params: { key },
    result: z.boolean(),
    writes: false,
    handle: ({ kv }, { key: name }, { pluginId }) => kv.exists(pluginId, name),
  }),

  ofKv('listKeys', {
    about:
      'Returns the keys that match a pattern, or all keys without a pattern. `*` matches any characters, `?` one character, `[a-z]` one character of a set and `[^a-z]` one outside it. `\\` makes the next character literal. `batch` has no effect; it exists for older plugins.',
    signature: 'listKeys(pattern?: string, batch?: number): Promise<string[]>',
    params: { prefix: z.string(), after: z.string().exactOptional() },
    /** A page (`kv_page`) of the keys that begin with `prefix` and come after `after`, in order. */
    result: z.array(z.string()),
    writes: false,
    handle: ({ kv }, { prefix, after }, { pluginId }) => kv.listKeys(pluginId, prefix, after),
  }),

  ofKv('clear', {
    about: "Deletes all of the plugin's values. Resolves with their number. Does not release locks.",
    params: {},
    result: z.int(),
    writes: true,
    handle: ({ kv }, _, { kvCaller, effect, signal }) => kv.clear(kvCaller, effect, signal),
  }),

  ofKv('lock', {
    about:
      "Runs `fn` while no other call of this plugin holds the lock `key`. Resolves with the result of `fn`. It does not wait for a lock that another call holds: it rejects with `lock busy`, or resolves with null if `onBusy` is `'skip'`. After `ttlSec` seconds (default 30) another call may take the lock. From then until `fn` ends, this call's `set`, `del` and `clear` are refused.",
    signature:
      "withLock<T>(key: string, fn: () => Promise<T>, options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' }): Promise<T | null>",
    params: { key, ttlSec: z.number().positive() },
    /**
     * The lock's fence, or null when another call holds the lock. Until `kv.unlock`, the call's writes fail if it has
     * lost the lock.
     */
    result: z.int().nullable(),
    writes: true,
    async handle({ kv }, { key: name, ttlSec }, { kvCaller, locks, effect, signal, timeoutMs }) {
      if (locks.full) throw invalidRequest(`a call may hold at most ${FIXED_LIMITS.locks} locks`);
      // A lock ends with its call. A longer time would only keep others waiting after a crash.
      const forMs = Math.min(ttlSec * 1000, timeoutMs);
      const lock = await kv.lock(kvCaller, name, forMs, effect, signal);
      if (lock === null) return null;
      // If the release fails, the lock ends when its time is over.
      locks.hold(lock, () => void kv.unlock(kvCaller.pluginId, lock).catch(() => {}));
      return lock.fence;
    },
  }),

  ofKv('unlock', {
    params: { key, fence: z.int() },
    /** False when the call no longer held the lock. */
    result: z.boolean(),
    // It releases a lock that `kv.lock` took. A second release is harmless.
    writes: false,
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
  }),
];
