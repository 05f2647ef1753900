import type { CryptoQuestion, ReadKey } from '../../node/crypto/crypto-question.ts';
import { base64Of, bytesFromBase64 } from '../encoding/bytes.ts';
import { checkedUsages, failing, type KeyFormat, type KeyPair, type Tools, type Wanted } from './algorithm.ts';
import { type CryptoKey, type KeyAlgorithm, type KeyParts, makeKey } from './crypto-key.ts';
import { checkJwk, jwkOf } from './json-web-keys.ts';
import type { Bytes, Given } from './parameters.ts';

/** The differences among the algorithms whose keys come in pairs. */
export interface PairKind {
  readonly kty: 'EC' | 'OKP' | 'RSA';
  readonly use: 'sig' | 'enc';
  readonly usages: { readonly public: readonly string[]; readonly private: readonly string[] };
  /** The `algorithm` of a key. @throws DataError when the key is for another algorithm */
  algorithm(key: ReadKey): KeyAlgorithm;
  /** Checks the algorithm that a JSON Web Key names. @throws DataError */
  checkJwk(jwk: Given): void;
  alg(algorithm: KeyAlgorithm): string | undefined;
  /** Reads a key that is given by its bytes alone, if the algorithm has such a form. */
  readRaw?(bytes: Bytes): ReadKey;
  writeRaw?(key: KeyParts): Bytes;
}

const PRIVATE_FIELDS = ['d'];

/** Imports a public or private key from any form. */
export function importOfPair(
  tools: Tools,
  kind: PairKind,
  { format, data, wanted }: { format: KeyFormat; data: Bytes | Given; wanted: Wanted },
): CryptoKey {
  const { fail } = tools;
  const isPrivate = format === 'pkcs8' || (format === 'jwk' && PRIVATE_FIELDS.some((name) => hasField(data, name)));
  const type = isPrivate ? 'private' : 'public';
  if (format === 'raw' && kind.readRaw === undefined) {
    throw fail('NotSupportedError', 'Such keys are not read as raw');
  }
  const usages = checkedUsages(fail, wanted, kind.usages[type]);
  if (format === 'jwk') {
    checkJwk(fail, data as Given, wanted, kind);
    kind.checkJwk(data as Given);
  }
  const read = failing(fail, 'DataError', () => {
    if (format === 'raw') return kind.readRaw?.(data as Bytes);
    const bytes = format === 'jwk' ? jwkBytes(data as Given) : (data as Bytes);
    const form = format === 'jwk' ? { format } : { format: 'der', type: format };
    const question: CryptoQuestion = { op: 'read-key', as: type, ...form, data: base64Of(bytes) };
    return JSON.parse(tools.arithmetic.text(question)) as ReadKey;
  }) as ReadKey;
  const { extractable } = wanted;
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

function jwkBytes(jwk: Given): Bytes {
  const fields: Record<string, unknown> = { __proto__: null };
  for (const name of MATERIAL) if (hasField(jwk, name)) fields[name] = jwk[name];
  return Uint8Array.from(JSON.stringify(fields), (character) => character.charCodeAt(0) & 0xff);
}

function hasField(jwk: Bytes | Given, name: string): boolean {
  return (jwk as Given)[name] !== undefined;
}

/** Exports a public or private key in any form. */
export function exportOfPair(
  { arithmetic, fail }: Tools,
  kind: PairKind,
  format: KeyFormat,
  key: KeyParts,
): Bytes | Given {
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
      return jwkOf(key, JSON.parse(text) as Given, kind.alg(key.algorithm));
    }
  }
}

/** Makes both keys of a new pair from the process's answer. */
export function pairOf(
  { fail }: Tools,
  kind: PairKind,
  text: string,
  algorithm: KeyAlgorithm,
  wanted: Wanted,
): KeyPair {
  const [its, mine] = JSON.parse(text) as [ReadKey, ReadKey];
  const { extractable, usages } = wanted;
  const of = (type: 'public' | 'private') =>
    checkedUsages(
      fail,
      { ...wanted, usages: usages.filter((usage) => kind.usages[type].includes(usage)) },
      kind.usages[type],
    );
  return {
    publicKey: makeKey({ type: 'public', extractable: true, algorithm, usages: of('public'), material: its.key }),
    privateKey: makeKey({ type: 'private', extractable, algorithm, usages: of('private'), material: mine.key }),
  };
}

/** @throws SyntaxError when neither key of the pair can have a wanted usage */
export function checkPairUsages({ fail }: Tools, { usages }: PairKind, wanted: Wanted): void {
  checkedUsages(fail, wanted, [...usages.public, ...usages.private]);
}
