import type { FIXED_LIMITS } from '../protocol.ts';
import type { BoundCalls } from './capability-calls.ts';
import {
  apply,
  NativeError,
  NativeTypeError,
  parseJson,
  regExpExec,
  stringSlice,
  toNumber,
} from './intrinsics/primordials.ts';
import { literalLength, matchesPattern } from './key-pattern.ts';
import type { Json, PluginKVStore } from './plugin-api.ts';

const KEY = /^[A-Za-z0-9:_-]{1,512}$/;
const IN_KEYS = /^[A-Za-z0-9:_-]{0,512}$/;
const MAX_PATTERN = 1024;
const LOCK_SECONDS = 30;
/** Keys in one page of a list. A shorter page is the last one. */
const PAGE: (typeof FIXED_LIMITS)['kv_page'] = 1000;

/** `context.kv`: closures over the running call, so that every function works when taken off its object. */
export function createKv(calls: BoundCalls): PluginKVStore {
  return {
    get: <T = Json>(key: string) =>
      calls.call<T | null, 'kv.get'>('kv.get', () => ({ key: checked(key) }), {
        accept: (text) => (text === null ? null : (parseJson(text as string) as T)),
      }),
    set: (key, value, options) =>
      calls.call<boolean, 'kv.set'>('kv.set', () => ({ key: checked(key), ttlSec: lifetime(options?.ttlSec) }), {
        value: () => stored(value),
      }),
    del: (key) => calls.call<boolean, 'kv.del'>('kv.del', () => ({ key: checked(key) })),
    exists: (key) => calls.call<boolean, 'kv.exists'>('kv.exists', () => ({ key: checked(key) })),
    listKeys: (pattern) => listKeys(calls, pattern),
    clear: () => calls.call<number, 'kv.clear'>('kv.clear', () => ({})),
    withLock: (key, fn, options) => withLock(calls, key, fn, options),
  };
}

/**
 * The service lists the keys that begin with the pattern's literal beginning. Matching the rest takes the plugin's own
 * time.
 */
async function listKeys(calls: BoundCalls, pattern: unknown = '*'): Promise<string[]> {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN) throw new NativeError('invalid pattern');
  const prefix = stringSlice(pattern, 0, literalLength(pattern));
  const found: string[] = [];
  // No key begins with this prefix.
  if (regExpExec(IN_KEYS, prefix) === null) return found;
  let after: string | undefined;
  for (;;) {
    const page = await calls.call<string[], 'kv.listKeys'>('kv.listKeys', () => ({ prefix, after }));
    const { length } = page;
    for (let index = 0; index < length; index++) {
      const key = page[index] as string;
      if (matchesPattern(key, pattern)) found[found.length] = key;
    }
    if (length < PAGE) return found;
    after = page[length - 1];
  }
}

/**
 * Runs `fn` while this call holds a lock. The service notes the lock for the call: until the unlock, the call's writes
 * need the lock to be held. The lock ends with the call at the latest, so this function need not come to its end.
 */
async function withLock<T>(
  calls: BoundCalls,
  key: string,
  fn: () => Promise<T>,
  options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' },
): Promise<T | null> {
  if (typeof fn !== 'function') throw new NativeTypeError('withLock needs a function to run');
  const { ttlSec = LOCK_SECONDS, onBusy } = options ?? {};
  const fence = await calls.call<number | null, 'kv.lock'>('kv.lock', () => ({
    key: checked(key),
    ttlSec: lockTime(ttlSec),
  }));
  if (fence === null) {
    if (onBusy === 'skip') return null;
    throw new NativeError('lock busy');
  }
  try {
    return await apply(fn, undefined, []);
  } finally {
    try {
      await calls.call<boolean, 'kv.unlock'>('kv.unlock', () => ({ key, fence }));
    } catch {
      // The outcome of `fn` counts. A lock that could not be released ends with the call.
    }
  }
}

function checked(key: unknown): string {
  if (typeof key !== 'string' || regExpExec(KEY, key) === null) throw new NativeError('invalid key');
  return key;
}

function stored(value: unknown): unknown {
  if (value === undefined) throw new NativeError('value must not be undefined');
  return value;
}

/** A lifetime that is not a positive number of seconds means that the value does not expire. */
function lifetime(ttlSec: unknown): number | undefined {
  const seconds = secondsOf(ttlSec);
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : undefined;
}

function lockTime(ttlSec: unknown): number {
  const seconds = secondsOf(ttlSec);
  if (seconds > 0 && seconds < Number.POSITIVE_INFINITY) return seconds;
  throw new NativeError('ttlSec of a lock must be a positive number of seconds');
}

function secondsOf(ttlSec: unknown): number {
  return typeof ttlSec === 'number' || typeof ttlSec === 'string' ? toNumber(ttlSec) : 0;
}
