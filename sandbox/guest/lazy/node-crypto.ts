import type { RuntimeServices } from '../lazy-module-loader.ts';
import { defineLazily } from '../lazy-property.ts';
import { createHashing } from '../node/crypto/hashes.ts';
import { createProcessCrypto } from '../node/crypto/process-crypto.ts';
import { checkFunction, checkInteger, invalidArgType, nodeError, outOfRange } from '../node/node-error.ts';

type Callback = (error: null, value?: unknown) => unknown;

/** Most random bytes that are asked of the process at once. */
const AT_ONCE = 65_536;

const MAX_BYTES = 0x7fff_ffff;

/** Functions that are absent: no package of plugins uses them, they would take too long, or are about the process. */
const ABSENT = [
  ...['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman', 'checkPrime', 'checkPrimeSync'],
  ...['generatePrime', 'generatePrimeSync', 'argon2', 'argon2Sync', 'setEngine', 'setFips', 'encapsulate'],
  ...['decapsulate', 'parsePKCS12', 'X509Certificate', 'Certificate', 'DiffieHellman', 'DiffieHellmanGroup'],
  ...['publicEncrypt', 'privateDecrypt', 'privateEncrypt', 'publicDecrypt', 'createECDH', 'ECDH', 'diffieHellman'],
  ...['generateKeyPair', 'generateKeyPairSync', 'generateKey', 'generateKeySync', 'getCipherInfo', 'getCurves'],
];

const LISTS = { getHashes: 'hashes', getCiphers: 'ciphers' } as const;

/** The members that need keys. They are a lazy module of their own. */
export const KEYED_NAMES = [
  'Cipheriv',
  'Decipheriv',
  'createCipheriv',
  'createDecipheriv',
  'KeyObject',
  'createSecretKey',
  'createPrivateKey',
  'createPublicKey',
  'Sign',
  'Verify',
  'createSign',
  'createVerify',
  'sign',
  'verify',
  'pbkdf2',
  'pbkdf2Sync',
  'scrypt',
  'scryptSync',
  'hkdf',
  'hkdfSync',
];

/** Node's module `crypto`: the functions that need no keys, and the lazy module that has the others. */
export function createCryptoModule(services: RuntimeServices) {
  const { random, global } = services;
  const arithmetic = createProcessCrypto(services);
  const keyed = () => services.large('node-keys');

  function fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += AT_ONCE) {
      const some = random(Math.min(AT_ONCE, bytes.length - at));
      for (let index = 0; index < some.length; index++) bytes[at + index] = some.charCodeAt(index);
    }
  }

  function randomBytes(size: unknown, callback?: unknown): Buffer | undefined {
    checkInteger(size, 'size', 0, MAX_BYTES);
    if (callback !== undefined) checkFunction(callback, 'callback');
    const bytes = Buffer.alloc(size);
    fill(bytes);
    return answered(bytes, callback);
  }

  function randomFillSync(target: unknown, offset = 0, size?: number): unknown {
    const bytes = bytesIn(target);
    checkInteger(offset, 'offset', 0, bytes.length);
    const length = size ?? bytes.length - offset;
    checkInteger(length, 'size', 0, bytes.length - offset);
    fill(bytes.subarray(offset, offset + length));
    return target;
  }

  function randomInt(low: unknown, high?: unknown, callback?: unknown): number | undefined {
    const hasOne = high === undefined || typeof high === 'function';
    const [min, max, done] = hasOne ? [0, low, high] : [low, high, callback];
    checkSafe(min, 'min');
    checkSafe(max, 'max');
    const range = max - min;
    if (max <= min) throw outOfRange('max', `greater than the value of "min" (${min})`, max);
    if (range >= 2 ** 48) throw outOfRange(hasOne ? 'max' : 'max - min', `<= ${2 ** 48 - 1}`, range);
    // Draws again for a number beyond the last multiple of the range: it would make some results more likely than
    // others.
    const limit = 2 ** 48 - (2 ** 48 % range);
    const bytes = Buffer.alloc(6);
    do fill(bytes);
    while (bytes.readUIntBE(0, 6) >= limit);
    return answered(min + (bytes.readUIntBE(0, 6) % range), done);
  }

  const listed = (of: 'hashes' | 'ciphers' | 'constants') =>
    JSON.parse(arithmetic.text({ op: 'names', of })) as unknown;
  const web = () =>
    global['crypto'] as Record<string, unknown> & { randomUUID(): string; getRandomValues(array: unknown): unknown };
  const module: Record<string, unknown> = {
    ...createHashing(arithmetic, (key) => (keyed()['secretOf'] as (key: unknown) => string)(key)),
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync,
    randomInt,
    timingSafeEqual,
    randomFill(target: unknown, ...more: unknown[]): void {
      const callback = more.pop();
      checkFunction(callback, 'callback');
      randomFillSync(target, ...(more as [number?, number?]));
      answered(target, callback);
    },
    randomUUID: () => web().randomUUID(),
    getRandomValues: (array: unknown) => web().getRandomValues(array),
    get webcrypto() {
      return web();
    },
    get subtle() {
      return web()['subtle'];
    },
    getFips: () => 0,
    ...Object.fromEntries(ABSENT.map((name) => [name, absent(name)])),
    ...Object.fromEntries(Object.entries(LISTS).map(([name, of]) => [name, () => listed(of)])),
  };
  defineLazily(module, ['constants'], () => Object.freeze(listed('constants')), true);
  defineLazily(module, KEYED_NAMES, (name) => keyed()[name], true);
  return module;
}

function checkSafe(value: unknown, name: string): asserts value is number {
  if (!Number.isSafeInteger(value)) throw invalidArgType(name, 'a safe integer', value);
}

/** Returns the value, or passes it to a callback after the running code has finished. */
function answered<T>(value: T, callback: unknown): T | undefined {
  if (callback === undefined) return value;
  process.nextTick(() => (callback as Callback)(null, value));
  return undefined;
}

function bytesIn(target: unknown): Uint8Array {
  if (ArrayBuffer.isView(target)) return new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  if (target instanceof ArrayBuffer) return new Uint8Array(target);
  throw invalidArgType('buf', 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView', target);
}

function timingSafeEqual(a: unknown, b: unknown): boolean {
  const [first, second] = [a, b].map(bytesIn) as [Uint8Array, Uint8Array];
  if (first.length !== second.length) {
    const message = 'Input buffers must have the same byte length';
    throw nodeError('ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', message, RangeError);
  }
  let difference = 0;
  for (let index = 0; index < first.length; index++) difference |= (first[index] ?? 0) ^ (second[index] ?? 0);
  return difference === 0;
}

function absent(name: string) {
  const refuse = {
    [name](): never {
      const message = `crypto.${name} is not there in a plugin. Use another function of it, or a package in plain JavaScript`;
      throw nodeError('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message);
    },
  };
  return refuse[name];
}

/** Node's module `crypto`. */
export function create(services: RuntimeServices): Record<string, unknown> {
  return { crypto: createCryptoModule(services) };
}
