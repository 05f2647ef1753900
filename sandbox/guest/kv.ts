import type { FIXED_LIMITS } from '../contract.ts';
import { type CapabilityCaller, given } from './capability-calls.ts';
import { kvObject } from './capability-stubs.ts';
import {
  apply,
  charCodeAt,
  NativeError,
  NativeTypeError,
  parseJson,
  regExpExec,
  stringSlice,
  toNumber,
} from './intrinsics/primordials.ts';
import type { PluginKVStore } from './sdk/capabilities.ts';
import type { Json } from './sdk/network-models.ts';

const KEY = /^[A-Za-z0-9:_-]{1,512}$/;

const IN_KEYS = /^[A-Za-z0-9:_-]{0,512}$/;

const MAX_PATTERN = 1024;

const LOCK_SECONDS = 30;

/** Keys in one page of a list. A shorter page is the last one. */
const PAGE: (typeof FIXED_LIMITS)['kv_page'] = 1000;

/** `context.kv`: closures over the running call, so that every function works when taken off its object. */
export function createKv(calls: CapabilityCaller): PluginKVStore {
  const own: Parameters<typeof kvObject>[1] = {
    get: <T = Json>(key: string) =>
      calls.call('kv.get', () => ({ key: checked(key) }), {
        accept: (text) => (text === null ? null : (parseJson(text as string) as T)),
      }),
    set: (key, value, options) =>
      calls.call('kv.set', () => ({ key: checked(key), ttlSec: lifetime(options?.ttlSec) }), {
        value: () => stored(value),
      }),
    listKeys: (pattern) => listKeys(calls, pattern),
    withLock: (key, fn, options) => withLock(calls, key, fn, options),
  };
  return kvObject(calls, own, check);
}

/**
 * The service lists the keys that begin with the pattern's literal beginning. Matching the rest takes the plugin's own
 * time.
 */
async function listKeys(calls: CapabilityCaller, pattern: unknown = '*'): Promise<string[]> {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN) throw new NativeError('invalid pattern');
  const prefix = stringSlice(pattern, 0, literalLength(pattern));
  const found: string[] = [];
  // No key begins with this prefix.
  if (regExpExec(IN_KEYS, prefix) === null) return found;
  let after: string | undefined;
  for (;;) {
    const page = await calls.call('kv.listKeys', () => ({ prefix, after }));
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
  calls: CapabilityCaller,
  key: string,
  fn: () => Promise<T>,
  options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' },
): Promise<T | null> {
  if (typeof fn !== 'function') throw new NativeTypeError('withLock needs a function to run');
  const { ttlSec = LOCK_SECONDS, onBusy } = options ?? {};
  const fence = await calls.call('kv.lock', () => ({
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
      await calls.call('kv.unlock', () => ({ key, fence }));
    } catch {
      // The outcome of `fn` counts. A lock that could not be released ends with the call.
    }
  }
}

function check<T>(name: string, argument: T): T {
  if (name === 'key') checked(argument);
  return given(name, argument);
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

const STAR = 0x2a;

const QUESTION = 0x3f;

const OPEN = 0x5b;

const CLOSE = 0x5d;

const CARET = 0x5e;

const BACKSLASH = 0x5c;

const DASH = 0x2d;

/** The length of the literal beginning of a pattern. Every matching key begins with these characters. */
export function literalLength(pattern: string): number {
  let at = 0;
  for (; at < pattern.length; at++) {
    const code = charCodeAt(pattern, at);
    if (code === STAR || code === QUESTION || code === OPEN || code === BACKSLASH) break;
  }
  return at;
}

/**
 * Whether a key matches a glob pattern in Redis's syntax: `*`, `?`, `[abc]`, `[a-z]`, `[^a]`, and `\` before a
 * character that stands for itself. An unclosed set ends with the pattern. After a mismatch only the last `*` is tried
 * again, so matching takes at most key length times pattern length steps.
 */
export function matchesPattern(key: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let starAt = 0;
  while (at < key.length) {
    if (inPattern < pattern.length && charCodeAt(pattern, inPattern) === STAR) {
      star = inPattern++;
      starAt = at;
      continue;
    }
    const next = inPattern < pattern.length ? afterOne(charCodeAt(key, at), pattern, inPattern) : -1;
    if (next !== -1) {
      inPattern = next;
      at++;
    } else if (star === -1) {
      return false;
    } else {
      inPattern = star + 1;
      at = ++starAt;
    }
  }
  while (inPattern < pattern.length && charCodeAt(pattern, inPattern) === STAR) inPattern++;
  return inPattern === pattern.length;
}

/**
 * Matches one character against the piece of the pattern at `at`. Returns the index after the piece; -1 without a
 * match.
 */
function afterOne(code: number, pattern: string, at: number): number {
  const piece = charCodeAt(pattern, at);
  if (piece === QUESTION) return at + 1;
  if (piece === OPEN) return afterSet(code, pattern, at + 1);
  const isEscape = piece === BACKSLASH && at + 1 < pattern.length;
  const literal = isEscape ? at + 1 : at;
  return charCodeAt(pattern, literal) === code ? literal + 1 : -1;
}

function afterSet(code: number, pattern: string, begin: number): number {
  let at = begin;
  const isNegated = at < pattern.length && charCodeAt(pattern, at) === CARET;
  if (isNegated) at++;
  let isMember = false;
  for (; at < pattern.length && charCodeAt(pattern, at) !== CLOSE; at++) {
    if (charCodeAt(pattern, at) === BACKSLASH && at + 1 < pattern.length) at++;
    const from = charCodeAt(pattern, at);
    let to = from;
    if (at + 2 < pattern.length && charCodeAt(pattern, at + 1) === DASH) {
      at += 2;
      to = charCodeAt(pattern, at);
    }
    if ((code >= from && code <= to) || (code >= to && code <= from)) isMember = true;
  }
  if (isMember === isNegated) return -1;
  return at < pattern.length ? at + 1 : at;
}
