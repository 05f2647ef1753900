import type { ReadKey } from '../../node/crypto/crypto-question.ts';
import { base64Of } from '../encoding/bytes.ts';
import { type Algorithm, computed, mustBe, type Tools } from './algorithm.ts';
import type { KeyAlgorithm, KeyParts } from './crypto-key.ts';
import { signing } from './curves.ts';
import { checkPairUsages, exportOfPair, importOfPair, type PairKind, pairOf } from './pairs.ts';
import type { Bytes, Given, HashName } from './parameters.ts';

/** OpenSSL's numbers of the paddings (openssl/rsa.h). */
const PSS_PADDING = 6;
const PKCS1_PADDING = 1;
const SIGNING = { public: ['verify'], private: ['sign'] } as const;
const SEALING = { public: ['encrypt', 'wrapKey'], private: ['decrypt', 'unwrapKey'] } as const;
const MAX_EXPONENT_BYTES = 4;
const NONE = new Uint8Array(0);

/** Makes the `alg` of a JSON Web Key from the number of the hash. */
const ALGS: Readonly<Record<string, (hash: string) => string>> = {
  'RSASSA-PKCS1-v1_5': (hash) => `RS${hash}`,
  'RSA-PSS': (hash) => `PS${hash}`,
  'RSA-OAEP': (hash) => (hash === '1' ? 'RSA-OAEP' : `RSA-OAEP-${hash}`),
};

/** RSASSA-PKCS1-v1_5, RSA-PSS and RSA-OAEP (Web Cryptography 20 to 22). */
export function createRsa(tools: Tools): readonly Algorithm[] {
  const { fail, parameters, arithmetic } = tools;

  function keysOf(name: string, usages: PairKind['usages']): Algorithm {
    const kindOf = (hash: string): PairKind => {
      const alg = ALGS[name]?.(hash.slice('SHA-'.length));
      return {
        kty: 'RSA',
        use: usages === SEALING ? 'enc' : 'sig',
        usages,
        algorithm: (key) => algorithmOf(key, name, hash),
        checkJwk(jwk) {
          if (jwk['alg'] !== undefined && jwk['alg'] !== alg) throw fail('DataError', "The key's alg is another one");
        },
        alg: () => alg,
      };
    };
    return {
      name,
      async generateKey(given, wanted) {
        const bits = parameters.whole(given, 'modulusLength');
        const exponentBytes = parameters.bytes(given, 'publicExponent');
        const hash: HashName = parameters.hash(given);
        const kind = kindOf(hash);
        checkPairUsages(tools, kind, wanted);
        const publicExponent = exponentBytes.slice(exponentBytes.findIndex((byte) => byte !== 0));
        if (publicExponent.length > MAX_EXPONENT_BYTES) throw fail('OperationError', 'The exponent is too large');
        const exponent = publicExponent.reduce((sum, byte) => sum * 256 + byte, 0);
        const algorithm = { name, modulusLength: bits, publicExponent: exponentBytes, hash: { name: hash } };
        let text: string;
        try {
          text = await arithmetic.textLater({ op: 'key-pair', kind: 'rsa', bits, exponent });
        } catch (error) {
          throw fail('OperationError', error instanceof Error ? error.message : 'It failed');
        }
        return pairOf(tools, kind, text, algorithm, wanted);
      },
      importKey: (format, data, given, wanted) =>
        importOfPair(tools, kindOf(parameters.hash(given)), { format, data, wanted }),
      exportKey: (format, key) => exportOfPair(tools, kindOf(key.algorithm.hash?.name ?? ''), format, key),
    };
  }

  function algorithmOf({ kind, details }: ReadKey, name: string, hash: string): KeyAlgorithm {
    if (kind !== 'rsa') throw fail('DataError', 'The key is not one of RSA');
    const publicExponent = exponentOf(BigInt(String(details['publicExponent'])));
    return { name, modulusLength: Number(details['modulusLength']), publicExponent, hash: { name: hash } };
  }

  const seal = (use: 'publicEncrypt' | 'privateDecrypt') => (given: Given, key: KeyParts, data: Bytes) => {
    mustBe(fail, key, use === 'publicEncrypt' ? 'public' : 'private');
    const label = base64Of(parameters.optionalBytes(given, 'label') ?? NONE);
    const hash = (key.algorithm.hash?.name ?? '').replace('-', '').toLowerCase();
    const question = { op: 'oaep', use, key: key.material, hash, data: base64Of(data) } as const;
    return computed(tools, label === '' ? question : { ...question, label });
  };
  const hashOf = ({ algorithm }: KeyParts) => ({ hash: algorithm.hash?.name ?? '' });

  return [
    {
      ...keysOf('RSASSA-PKCS1-v1_5', SIGNING),
      ...signing(tools, (_given, key) => ({ ...hashOf(key), padding: PKCS1_PADDING })),
    },
    {
      ...keysOf('RSA-PSS', SIGNING),
      ...signing(tools, (given, key) => {
        const salt = parameters.whole(given, 'saltLength');
        return { ...hashOf(key), padding: PSS_PADDING, salt };
      }),
    },
    { ...keysOf('RSA-OAEP', SEALING), encrypt: seal('publicEncrypt'), decrypt: seal('privateDecrypt') },
  ];
}

function exponentOf(number: bigint): Uint8Array {
  const hex = number.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return Uint8Array.from({ length: even.length / 2 }, (_, at) => Number.parseInt(even.slice(at * 2, at * 2 + 2), 16));
}
