import { base64Of, bytesFromBase64 } from '../encoding/bytes.ts';
import { checkedUsages, type KeyFormat, type Tools, type Wanted } from './algorithm.ts';
import { type KeyAlgorithm, type KeyParts, makeKey } from './crypto-key.ts';
import { checkAlg, checkJwk, jwkOf } from './json-web-keys.ts';
import type { Bytes, Given } from './parameters.ts';

const URL_SAFE = /^[\w-]*$/;

/** The bytes of a secret key that was given as `raw` or `jwk`. */
export function secretIn({ fail }: Tools, format: KeyFormat, data: Bytes | Given): Bytes {
  if (format === 'raw') return data as Bytes;
  if (format !== 'jwk') throw fail('NotSupportedError', `Such keys are not read as ${format}`);
  const { k } = data as Given;
  if (typeof k !== 'string' || !URL_SAFE.test(k)) throw fail('DataError', 'The key has no k');
  return bytesFromBase64(k.replaceAll('-', '+').replaceAll('_', '/'));
}

/** The differences among the algorithms that have one secret key. */
export interface SecretKind {
  readonly use: 'sig' | 'enc';
  readonly usages: readonly string[];
  /** The `alg` of its JSON Web Keys. */
  alg(algorithm: KeyAlgorithm): string | undefined;
}

/** Imports a secret key from any form. */
export function importSecret(
  tools: Tools,
  kind: SecretKind,
  { format, data, wanted }: { format: KeyFormat; data: Bytes | Given; wanted: Wanted },
  algorithmFor: (bytes: Bytes) => KeyAlgorithm,
) {
  const { fail } = tools;
  const usages = checkedUsages(fail, wanted, kind.usages);
  if (format === 'jwk') checkJwk(fail, data as Given, wanted, { kty: 'oct', use: kind.use });
  const bytes = secretIn(tools, format, data);
  const algorithm = algorithmFor(bytes);
  if (format === 'jwk') checkAlg(fail, data as Given, kind.alg(algorithm));
  const { extractable } = wanted;
  return makeKey({ type: 'secret', extractable, algorithm, usages, material: base64Of(bytes) });
}

/** Makes a new secret key of `algorithm.length` bits. */
export function generateSecret(
  { fail, random }: Tools,
  kind: SecretKind,
  wanted: Wanted,
  algorithm: KeyAlgorithm & { length: number },
) {
  const usages = checkedUsages(fail, wanted, kind.usages);
  const bytes = random(Math.ceil(algorithm.length / 8));
  cutBits(bytes, algorithm.length);
  const { extractable } = wanted;
  return makeKey({ type: 'secret', extractable, algorithm, usages, material: base64Of(bytes) });
}

/** Exports a secret key as its bytes or as a JSON Web Key. */
export function exportSecret({ fail }: Tools, kind: SecretKind, format: KeyFormat, key: KeyParts): Bytes | Given {
  if (format === 'raw') return bytesFromBase64(key.material);
  if (format !== 'jwk') throw fail('NotSupportedError', `Such keys are not written as ${format}`);
  const k = key.material.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return jwkOf(key, { kty: 'oct', k }, kind.alg(key.algorithm));
}

/** Clears the bits of the last byte after the first `bits` bits. */
export function cutBits(bytes: Bytes, bits: number): void {
  const over = bits % 8;
  if (over !== 0 && bytes.length > 0) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) & (0xff << (8 - over));
}
