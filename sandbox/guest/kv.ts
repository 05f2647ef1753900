import type { CapabilityCalls } from './capability-calls.ts';
import type { Json, PluginKVStore } from './plugin-api.ts';
import { NativeError, regExpExec, toNumber } from './primordials.ts';

const KEY = /^[A-Za-z0-9:_-]{1,512}$/;

/** `context.kv`: closures over the running call, so that every function works when taken off its object. */
export function createKv(calls: CapabilityCalls): PluginKVStore {
  return {
    get: <T = Json>(key: string) => calls.call<T | null, 'kv.get'>('kv.get', () => ({ key: checked(key) })),
    set: (key, value, options) =>
      calls.call<boolean, 'kv.set'>('kv.set', () => ({
        key: checked(key),
        value: stored(value),
        ttlSec: lifetime(options?.ttlSec),
      })),
    del: (key) => calls.call<boolean, 'kv.del'>('kv.del', () => ({ key: checked(key) })),
    exists: (key) => calls.call<boolean, 'kv.exists'>('kv.exists', () => ({ key: checked(key) })),
  };
}

function checked(key: unknown): string {
  if (typeof key !== 'string' || regExpExec(KEY, key) === null) throw new NativeError('invalid key');
  return key;
}

function stored(value: unknown): unknown {
  if (value === undefined) throw new NativeError('value must not be undefined');
  return value;
}

/** A lifetime that is not a positive number of seconds means that the value stays. */
function lifetime(ttlSec: unknown): number | undefined {
  const seconds = typeof ttlSec === 'number' || typeof ttlSec === 'string' ? toNumber(ttlSec) : 0;
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : undefined;
}
