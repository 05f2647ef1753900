import type { CryptoQuestion, KeyKind } from '../../node/crypto/crypto-question.ts';
import type { ProcessCrypto } from '../../node/crypto/process-crypto.ts';
import { copyOfBytes } from '../encoding/bytes.ts';
import { conformToWebIdl } from '../web-idl.ts';

export type KeyType = 'secret' | KeyKind;

/** The `algorithm` of a key (Web Cryptography 11.4, 12 and following). */
export interface KeyAlgorithm {
  name: string;
  length?: number;
  hash?: { name: string };
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
}

/** What a key is made of. */
export interface CryptoKeyParts {
  readonly type: KeyType;
  readonly extractable: boolean;
  readonly algorithm: KeyAlgorithm;
  readonly usages: readonly string[];
  /** A secret key's bytes, a private key's PKCS #8 or a public key's SPKI, in base64. */
  readonly material: string;
}

/** Only code that has this symbol makes keys. */
const permit = Symbol('permit');

const PARTS = new WeakMap<object, CryptoKeyParts>();

/** A key of Web Cryptography 13. Its usages are fixed, and only an extractable key shows its material. */
export class CryptoKey {
  readonly #type: KeyType;
  readonly #extractable: boolean;
  readonly #algorithm: KeyAlgorithm;
  readonly #usages: readonly string[];

  constructor(given?: symbol, parts?: CryptoKeyParts) {
    if (given !== permit || parts === undefined) throw new TypeError('Illegal constructor');
    this.#type = parts.type;
    this.#extractable = parts.extractable;
    // These are copies: a plugin that changes them changes only what it is shown.
    this.#algorithm = copyOf(parts.algorithm);
    this.#usages = [...parts.usages];
    PARTS.set(this, parts);
  }

  get type(): KeyType {
    return this.#type;
  }

  get extractable(): boolean {
    return this.#extractable;
  }

  get algorithm(): KeyAlgorithm {
    return this.#algorithm;
  }

  get usages(): readonly string[] {
    return this.#usages;
  }
}

conformToWebIdl(CryptoKey);

export function makeKey(parts: CryptoKeyParts): CryptoKey {
  return new CryptoKey(permit, parts);
}

/** The parts of a key; undefined for any other value. */
export function cryptoKeyParts(key: unknown): CryptoKeyParts | undefined {
  return typeof key === 'object' && key !== null ? PARTS.get(key) : undefined;
}

function copyOf({ hash, publicExponent, ...rest }: KeyAlgorithm): KeyAlgorithm {
  return {
    ...rest,
    ...(publicExponent === undefined ? {} : { publicExponent: publicExponent.slice() }),
    ...(hash === undefined ? {} : { hash: { ...hash } }),
  };
}

/** What the algorithms work with. */
export interface SubtleTools {
  readonly fail: MakeCryptoError;
  readonly parameters: Parameters;
  readonly arithmetic: ProcessCrypto;
  random(bytes: number): Bytes;
}

export interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** The properties that a caller wants for a new key. */
export interface CryptoKeyRequest {
  readonly extractable: boolean;
  readonly usages: readonly string[];
}

export type KeyFormat = 'raw' | 'spki' | 'pkcs8' | 'jwk';

/** One algorithm of Web Cryptography. Operations that it lacks are absent. */
export interface SubtleAlgorithm {
  readonly name: string;
  encrypt?(given: Dictionary, key: CryptoKeyParts, data: Bytes): Bytes;
  decrypt?(given: Dictionary, key: CryptoKeyParts, data: Bytes): Bytes;
  sign?(given: Dictionary, key: CryptoKeyParts, data: Bytes): Bytes;
  verify?(given: Dictionary, key: CryptoKeyParts, signature: Bytes, data: Bytes): boolean;
  wrapKey?(given: Dictionary, key: CryptoKeyParts, data: Bytes): Bytes;
  unwrapKey?(given: Dictionary, key: CryptoKeyParts, data: Bytes): Bytes;
  deriveBits?(given: Dictionary, key: CryptoKeyParts, bits: number | null): Bytes | Promise<Bytes>;
  generateKey?(given: Dictionary, request: CryptoKeyRequest): CryptoKey | KeyPair | Promise<KeyPair>;
  importKey?(format: KeyFormat, data: Bytes | Dictionary, given: Dictionary, request: CryptoKeyRequest): CryptoKey;
  exportKey?(format: KeyFormat, key: CryptoKeyParts): Bytes | Dictionary;
  /** The length in bits of a derived key of this algorithm; null if any length will do. */
  lengthOf?(given: Dictionary): number | null;
}

/** Runs `make`. Every failure becomes an error of the given name. */
export function withErrorName<T>(fail: MakeCryptoError, name: ErrorName, make: () => T): T {
  try {
    return make();
  } catch {
    throw fail(name, 'The operation failed for an operation-specific reason');
  }
}

/** Bytes that the process computes. Every failure becomes an OperationError. */
export function computeBytes(
  { arithmetic, fail }: Pick<SubtleTools, 'arithmetic' | 'fail'>,
  question: CryptoQuestion,
): Bytes {
  return withErrorName(fail, 'OperationError', () => arithmetic.bytes(question));
}

/** The requested usages, each once and in the order of the specification. */
export function checkedUsages(
  fail: MakeCryptoError,
  { usages }: CryptoKeyRequest,
  allowed: readonly string[],
): readonly string[] {
  if (usages.some((usage) => !allowed.includes(usage))) {
    throw fail('SyntaxError', 'The key cannot be used so');
  }
  return KEY_USAGES.filter((usage) => usages.includes(usage));
}

export const KEY_USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];

/** @throws InvalidAccessError where a key is of another type */
export function assertKeyType(fail: MakeCryptoError, { type }: CryptoKeyParts, request: KeyType): void {
  if (type !== request) throw fail('InvalidAccessError', `The key is not ${request}`);
}

export type Dictionary = Readonly<Record<string, unknown>>;

export type Bytes = Uint8Array<ArrayBuffer>;

type ErrorName =
  | 'NotSupportedError'
  | 'SyntaxError'
  | 'InvalidAccessError'
  | 'DataError'
  | 'OperationError'
  | 'QuotaExceededError';

/** Makes the errors of Web Cryptography 14. */
export type MakeCryptoError = (name: ErrorName, message: string) => Error;

/** Each hash with its block, in bits. */
export const HASH_BLOCK_BITS = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 } as const;

export type HashName = keyof typeof HASH_BLOCK_BITS;

const MAX_LONG = 2 ** 32 - 1;

/** Reads the dictionaries of algorithms as Web IDL does. */
export function createParameters(fail: MakeCryptoError) {
  function bytesIn(given: unknown, what: string): Bytes {
    const bytes = copyOfBytes(given);
    if (bytes === undefined) throw new TypeError(`${what} is neither a buffer nor a view of one`);
    return bytes;
  }

  function present(given: Dictionary, name: string): unknown {
    const value = given[name];
    if (value === undefined) throw new TypeError(`The algorithm has no ${name}`);
    return value;
  }

  function whole(value: unknown, name: string, most = MAX_LONG): number {
    const number = Math.trunc(Number(value));
    if (!(number >= 0 && number <= most)) throw new TypeError(`${name} must be from 0 to ${most}`);
    return number;
  }

  /** An algorithm's parameters with its name. The name may be written in any case. */
  function named(given: unknown): Dictionary & { name: string } {
    const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function';
    const options = isObject ? (given as Dictionary) : { name: given };
    const { name } = options;
    if (name === undefined) throw new TypeError('The algorithm has no name');
    // Defines the name and does not assign it: the copy of a frozen algorithm would refuse the assignment.
    const own = { value: toDomString(name), writable: true, enumerable: true, configurable: true };
    return Object.create(options, { name: own }) as Dictionary & { name: string };
  }

  return {
    named,
    bytesIn,
    bytes: (given: Dictionary, name: string) => bytesIn(present(given, name), name),
    optionalBytes: (given: Dictionary, name: string) =>
      given[name] === undefined ? undefined : bytesIn(given[name], name),
    whole: (given: Dictionary, name: string, most?: number) => whole(present(given, name), name, most),
    optionalWhole: (given: Dictionary, name: string, most?: number) =>
      given[name] === undefined ? undefined : whole(given[name], name, most),
    text: (given: Dictionary, name: string) => toDomString(present(given, name)),
    key(given: Dictionary, name: string): CryptoKeyParts {
      const parts = cryptoKeyParts(present(given, name));
      if (parts === undefined) throw new TypeError(`${name} is no CryptoKey`);
      return parts;
    },
    hash(given: Dictionary, name = 'hash'): HashName {
      const hash = named(present(given, name)).name;
      const known = (Object.keys(HASH_BLOCK_BITS) as HashName[]).find((one) => one === hash.toUpperCase());
      if (known === undefined) throw fail('NotSupportedError', `The hash ${hash} is not available here`);
      return known;
    },
  };
}

type Parameters = ReturnType<typeof createParameters>;

export function toDomString(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('A symbol is no text');
  return String(value);
}
