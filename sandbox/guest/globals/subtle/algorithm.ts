import type { Arithmetic } from '../../node/crypto/arithmetic.ts';
import type { CryptoQuestion } from '../../node/crypto/crypto-question.ts';
import type { CryptoKey, KeyParts, KeyType } from './crypto-key.ts';
import type { Bytes, ErrorName, Fail, Given, Parameters } from './parameters.ts';

/** What the algorithms work with. */
export interface Tools {
  readonly fail: Fail;
  readonly parameters: Parameters;
  readonly arithmetic: Arithmetic;
  random(bytes: number): Bytes;
}

export interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** The properties that a caller wants for a new key. */
export interface Wanted {
  readonly extractable: boolean;
  readonly usages: readonly string[];
}

export type KeyFormat = 'raw' | 'spki' | 'pkcs8' | 'jwk';

/** One algorithm of Web Cryptography. Operations that it lacks are absent. */
export interface Algorithm {
  readonly name: string;
  encrypt?(given: Given, key: KeyParts, data: Bytes): Bytes;
  decrypt?(given: Given, key: KeyParts, data: Bytes): Bytes;
  sign?(given: Given, key: KeyParts, data: Bytes): Bytes;
  verify?(given: Given, key: KeyParts, signature: Bytes, data: Bytes): boolean;
  wrapKey?(given: Given, key: KeyParts, data: Bytes): Bytes;
  unwrapKey?(given: Given, key: KeyParts, data: Bytes): Bytes;
  deriveBits?(given: Given, key: KeyParts, bits: number | null): Bytes | Promise<Bytes>;
  generateKey?(given: Given, wanted: Wanted): CryptoKey | KeyPair | Promise<KeyPair>;
  importKey?(format: KeyFormat, data: Bytes | Given, given: Given, wanted: Wanted): CryptoKey;
  exportKey?(format: KeyFormat, key: KeyParts): Bytes | Given;
  /** The length in bits of a derived key of this algorithm; null if any length will do. */
  lengthOf?(given: Given): number | null;
}

/** Runs `make`. Every failure becomes an error of the given name. */
export function failing<T>(fail: Fail, name: ErrorName, make: () => T): T {
  try {
    return make();
  } catch {
    throw fail(name, 'The operation failed for an operation-specific reason');
  }
}

/** Bytes that the process computes. Every failure becomes an OperationError. */
export function computed({ arithmetic, fail }: Pick<Tools, 'arithmetic' | 'fail'>, question: CryptoQuestion): Bytes {
  return failing(fail, 'OperationError', () => arithmetic.bytes(question));
}

/** The wanted usages, each once and in the order of the specification. */
export function checkedUsages(fail: Fail, { usages }: Wanted, allowed: readonly string[]): readonly string[] {
  if (usages.some((usage) => !allowed.includes(usage))) {
    throw fail('SyntaxError', 'The key cannot be used so');
  }
  return USAGES.filter((usage) => usages.includes(usage));
}

export const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];

/** @throws InvalidAccessError where a key is of another type */
export function mustBe(fail: Fail, { type }: KeyParts, wanted: KeyType): void {
  if (type !== wanted) throw fail('InvalidAccessError', `The key is not ${wanted}`);
}
