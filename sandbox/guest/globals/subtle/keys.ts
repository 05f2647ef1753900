import type { CryptoQuestion, ReadKey } from '../../node/crypto/crypto-question.ts';
import { base64Of, bytesFromBase64 } from '../encoding/bytes.ts';
import {
  type Bytes,
  type CryptoKey,
  type CryptoKeyParts,
  type CryptoKeyRequest,
  checkedUsages,
  type Dictionary,
  type KeyAlgorithm,
  type KeyFormat,
  type KeyPair,
  type MakeCryptoError,
  makeKey,
  type SubtleTools,
  withErrorName,
} from './algorithm.ts';

/** Checks that a JSON Web Key is of the requested type and allows the requested use (RFC 7517 4). */
export function checkJwk(
  fail: MakeCryptoError,
  jwk: Dictionary,
  { extractable, usages }: CryptoKeyRequest,
  { kty, use }: { kty: string; use: 'sig' | 'enc' },
): void {
  if (jwk['kty'] !== kty) throw fail('DataError', `The key's kty is not ${kty}`);
  if (usages.length > 0 && jwk['use'] !== undefined && jwk['use'] !== use) {
    throw fail('DataError', `The key's use is not ${use}`);
  }
  const { key_ops: operations, ext } = jwk;
  if (operations !== undefined) {
    const all = Array.isArray(operations) ? operations : [];
    if (!Array.isArray(operations) || new Set(all).size !== all.length) {
      throw fail('DataError', "The key's key_ops are no list of different texts");
    }
    if (usages.some((usage) => !all.includes(usage))) throw fail('DataError', "The key's key_ops lack a usage");
  }
  if (ext === false && extractable) throw fail('DataError', 'The key says that it is not extractable');
}

/** @throws DataError where the key is for another algorithm */
export function checkAlg(fail: MakeCryptoError, jwk: Dictionary, alg: string | undefined): void {
  if (jwk['alg'] !== undefined && jwk['alg'] !== alg) throw fail('DataError', "The key's alg is another one");
}

/** A JSON Web Key: its material, and the fields that every such key has. */
export function jwkOf({ usages, extractable }: CryptoKeyParts, material: Dictionary, alg?: string): Dictionary {
  return { ...material, key_ops: [...usages], ext: extractable, ...(alg === undefined ? {} : { alg }) };
}

const URL_SAFE = /^[\w-]*$/;

/** The bytes of a secret key that was given as `raw` or `jwk`. */
export function secretIn({ fail }: SubtleTools, format: KeyFormat, data: Bytes | Dictionary): Bytes {
  if (format === 'raw') return data as Bytes;
  if (format !== 'jwk') throw fail('NotSupportedError', `Such keys are not read as ${format}`);
  const { k } = data as Dictionary;
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
  tools: SubtleTools,
  kind: SecretKind,
  { format, data, request }: { format: KeyFormat; data: Bytes | Dictionary; request: CryptoKeyRequest },
  algorithmFor: (bytes: Bytes) => KeyAlgorithm,
) {
  const { fail } = tools;
  const usages = checkedUsages(fail, request, kind.usages);
  if (format === 'jwk') checkJwk(fail, data as Dictionary, request, { kty: 'oct', use: kind.use });
  const bytes = secretIn(tools, format, data);
  const algorithm = algorithmFor(bytes);
  if (format === 'jwk') checkAlg(fail, data as Dictionary, kind.alg(algorithm));
  const { extractable } = request;
  return makeKey({ type: 'secret', extractable, algorithm, usages, material: base64Of(bytes) });
}

/** Makes a new secret key of `algorithm.length` bits. */
export function generateSecret(
  { fail, random }: SubtleTools,
  kind: SecretKind,
  request: CryptoKeyRequest,
  algorithm: KeyAlgorithm & { length: number },
) {
  const usages = checkedUsages(fail, request, kind.usages);
  const bytes = random(Math.ceil(algorithm.length / 8));
  cutBits(bytes, algorithm.length);
  const { extractable } = request;
  return makeKey({ type: 'secret', extractable, algorithm, usages, material: base64Of(bytes) });
}

/** Exports a secret key as its bytes or as a JSON Web Key. */
export function exportSecret(
  { fail }: SubtleTools,
  kind: SecretKind,
  format: KeyFormat,
  key: CryptoKeyParts,
): Bytes | Dictionary {
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

/** The differences among the algorithms whose keys come in pairs. */
export interface KeyPairKind {
  readonly kty: 'EC' | 'OKP' | 'RSA';
  readonly use: 'sig' | 'enc';
  readonly usages: { readonly public: readonly string[]; readonly private: readonly string[] };
  /** The `algorithm` of a key. @throws DataError when the key is for another algorithm */
  algorithm(key: ReadKey): KeyAlgorithm;
  /** Checks the algorithm that a JSON Web Key names. @throws DataError */
  checkJwk(jwk: Dictionary): void;
  alg(algorithm: KeyAlgorithm): string | undefined;
  /** Reads a key that is given by its bytes alone, if the algorithm has such a form. */
  readRaw?(bytes: Bytes): ReadKey;
  writeRaw?(key: CryptoKeyParts): Bytes;
}

const PRIVATE_FIELDS = ['d'];

/** Imports a public or private key from any form. */
export function importOfPair(
  tools: SubtleTools,
  kind: KeyPairKind,
  { format, data, request }: { format: KeyFormat; data: Bytes | Dictionary; request: CryptoKeyRequest },
): CryptoKey {
  const { fail } = tools;
  const isPrivate = format === 'pkcs8' || (format === 'jwk' && PRIVATE_FIELDS.some((name) => hasField(data, name)));
  const type = isPrivate ? 'private' : 'public';
  if (format === 'raw' && kind.readRaw === undefined) {
    throw fail('NotSupportedError', 'Such keys are not read as raw');
  }
  const usages = checkedUsages(fail, request, kind.usages[type]);
  if (format === 'jwk') {
    checkJwk(fail, data as Dictionary, request, kind);
    kind.checkJwk(data as Dictionary);
  }
  const read = withErrorName(fail, 'DataError', () => {
    if (format === 'raw') return kind.readRaw?.(data as Bytes);
    const bytes = format === 'jwk' ? jwkBytes(data as Dictionary) : (data as Bytes);
    const form = format === 'jwk' ? { format } : { format: 'der', type: format };
    const question: CryptoQuestion = { op: 'read-key', as: type, ...form, data: base64Of(bytes) };
    return JSON.parse(tools.arithmetic.text(question)) as ReadKey;
  }) as ReadKey;
  const { extractable } = request;
  return makeKey({
    type,
    extractable: extractable || (type === 'public' && extractable),
    algorithm: kind.algorithm(read),
    usages,
    material: read.key,
  });
}

/**
 * The fields of a JSON Web Key that hold the key. The process reads only these; the fields about its uses are checked
 * here.
 */
const MATERIAL = ['kty', 'crv', 'x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi'];

function jwkBytes(jwk: Dictionary): Bytes {
  const fields: Record<string, unknown> = { __proto__: null };
  for (const name of MATERIAL) if (hasField(jwk, name)) fields[name] = jwk[name];
  return Uint8Array.from(JSON.stringify(fields), (character) => character.charCodeAt(0) & 0xff);
}

function hasField(jwk: Bytes | Dictionary, name: string): boolean {
  return (jwk as Dictionary)[name] !== undefined;
}

/** Exports a public or private key in any form. */
export function exportOfPair(
  { arithmetic, fail }: SubtleTools,
  kind: KeyPairKind,
  format: KeyFormat,
  key: CryptoKeyParts,
): Bytes | Dictionary {
  const as = key.type === 'private' ? 'private' : 'public';
  switch (format) {
    case 'spki':
      if (as !== 'public') throw fail('InvalidAccessError', 'The key is not public');
      return bytesFromBase64(key.material);
    case 'pkcs8':
      if (as !== 'private') throw fail('InvalidAccessError', 'The key is not private');
      return bytesFromBase64(key.material);
    case 'raw':
      if (kind.writeRaw === undefined) throw fail('NotSupportedError', 'Such keys are not written as raw');
      if (as !== 'public') throw fail('InvalidAccessError', 'The key is not public');
      return kind.writeRaw(key);
    case 'jwk': {
      const text = arithmetic.text({ op: 'write-key', as, key: key.material, format });
      return jwkOf(key, JSON.parse(text) as Dictionary, kind.alg(key.algorithm));
    }
  }
}

/** Makes both keys of a new pair from the process's answer. */
export function makeKeyPair(
  { fail }: SubtleTools,
  kind: KeyPairKind,
  text: string,
  algorithm: KeyAlgorithm,
  request: CryptoKeyRequest,
): KeyPair {
  const [its, mine] = JSON.parse(text) as [ReadKey, ReadKey];
  const { extractable, usages } = request;
  const of = (type: 'public' | 'private') =>
    checkedUsages(
      fail,
      { ...request, usages: usages.filter((usage) => kind.usages[type].includes(usage)) },
      kind.usages[type],
    );
  return {
    publicKey: makeKey({ type: 'public', extractable: true, algorithm, usages: of('public'), material: its.key }),
    privateKey: makeKey({ type: 'private', extractable, algorithm, usages: of('private'), material: mine.key }),
  };
}

/** @throws SyntaxError when neither key of the pair can have a requested usage */
export function checkPairUsages({ fail }: SubtleTools, { usages }: KeyPairKind, request: CryptoKeyRequest): void {
  checkedUsages(fail, request, [...usages.public, ...usages.private]);
}
