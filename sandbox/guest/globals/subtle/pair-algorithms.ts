import type { ReadKey } from '../../node/crypto/crypto-question.ts';
import { base64Of, bytesFromBase64, concatBytes } from '../encoding/bytes.ts';
import {
  assertKeyType,
  type Bytes,
  type CryptoKeyParts,
  computeBytes,
  type Dictionary,
  type HashName,
  type KeyAlgorithm,
  type SubtleAlgorithm,
  type SubtleTools,
  withErrorName,
} from './algorithm.ts';
import { checkPairUsages, cutBits, exportOfPair, importOfPair, type KeyPairKind, makeKeyPair } from './keys.ts';

/** NIST's curves, as OpenSSL names them. */
const NIST: Readonly<Record<string, string>> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
};

const ECDSA_ALG: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };

const SIGNING = { public: ['verify'], private: ['sign'] } as const;

const DERIVING = { public: [], private: ['deriveKey', 'deriveBits'] } as const;

const RAW_BYTES = 32;

/** The bytes before the key's own bytes in its SPKI, as base64 (RFC 8410 4). */
const SPKI_HEADS: Readonly<Record<string, string>> = {
  Ed25519: 'MCowBQYDK2VwAyEA',
  X25519: 'MCowBQYDK2VuAyEA',
};

/** ECDSA, ECDH, Ed25519 and X25519 (Web Cryptography 23 to 26). */
export function createCurves(tools: SubtleTools): readonly SubtleAlgorithm[] {
  const { fail, parameters } = tools;

  function curveIn(given: Dictionary): string {
    const curve = parameters.text(given, 'namedCurve');
    if (!Object.hasOwn(NIST, curve)) throw fail('NotSupportedError', `The curve ${curve} is not available here`);
    return curve;
  }

  function nist(name: 'ECDSA' | 'ECDH'): SubtleAlgorithm {
    const kindOf = (curve: string): KeyPairKind => ({
      kty: 'EC',
      use: name === 'ECDSA' ? 'sig' : 'enc',
      usages: name === 'ECDSA' ? SIGNING : DERIVING,
      algorithm({ kind, details }) {
        if (kind === 'ec' && details['namedCurve'] === NIST[curve]) return { name, namedCurve: curve };
        throw fail('DataError', `The key is not one of the curve ${curve}`);
      },
      checkJwk({ crv, alg }) {
        if (crv !== curve) throw fail('DataError', `The key is not one of the curve ${curve}`);
        if (name === 'ECDSA' && alg !== undefined && alg !== ECDSA_ALG[curve]) {
          throw fail('DataError', "The key's alg is another one");
        }
      },
      alg: () => undefined,
      readRaw(data) {
        const question = { op: 'read-key', as: 'public', format: 'point', curve, data: base64Of(data) } as const;
        return JSON.parse(tools.arithmetic.text(question)) as ReadKey;
      },
      writeRaw({ material }) {
        const question = { op: 'write-key', as: 'public', key: material, format: 'jwk' } as const;
        const { x = '', y = '' } = JSON.parse(tools.arithmetic.text(question)) as { x?: string; y?: string };
        return concatBytes([new Uint8Array([4]), urlSafeBytes(x), urlSafeBytes(y)]);
      },
    });
    return {
      name,
      generateKey(given, request) {
        const curve = curveIn(given);
        const kind = kindOf(curve);
        checkPairUsages(tools, kind, request);
        const text = tools.arithmetic.text({ op: 'key-pair', kind: 'ec', curve: NIST[curve] ?? '' });
        return makeKeyPair(tools, kind, text, { name, namedCurve: curve }, request);
      },
      importKey: (format, data, given, request) =>
        importOfPair(tools, kindOf(curveIn(given)), { format, data, request }),
      exportKey: (format, key) => exportOfPair(tools, kindOf(key.algorithm.namedCurve ?? ''), format, key),
    };
  }

  function edwards(name: 'Ed25519' | 'X25519'): SubtleAlgorithm {
    const head = bytesFromBase64(SPKI_HEADS[name] ?? '');
    const kind: KeyPairKind = {
      kty: 'OKP',
      use: name === 'Ed25519' ? 'sig' : 'enc',
      usages: name === 'Ed25519' ? SIGNING : DERIVING,
      algorithm(key): KeyAlgorithm {
        if (key.kind !== name.toLowerCase()) throw fail('DataError', `The key is not one of ${name}`);
        return { name };
      },
      checkJwk({ crv, alg }) {
        if (crv !== name) throw fail('DataError', `The key is not one of ${name}`);
        const isKnown = alg === undefined || name === 'X25519' || alg === 'Ed25519' || alg === 'EdDSA';
        if (!isKnown) throw fail('DataError', "The key's alg is another one");
      },
      alg: () => (name === 'Ed25519' ? 'Ed25519' : undefined),
      readRaw(data) {
        if (data.length !== RAW_BYTES) throw new Error('no valid length');
        return { key: base64Of(concatBytes([head, data])), kind: name.toLowerCase(), details: {} };
      },
      writeRaw: ({ material }) => bytesFromBase64(material).slice(-RAW_BYTES),
    };
    return {
      name,
      generateKey(_given, request) {
        checkPairUsages(tools, kind, request);
        const text = tools.arithmetic.text({ op: 'key-pair', kind: name.toLowerCase() });
        return makeKeyPair(tools, kind, text, { name }, request);
      },
      importKey: (format, data, _given, request) => importOfPair(tools, kind, { format, data, request }),
      exportKey: (format, key) => exportOfPair(tools, kind, format, key),
    };
  }

  function deriveBits(given: Dictionary, key: CryptoKeyParts, bits: number | null): Bytes {
    assertKeyType(fail, key, 'private');
    const peer = parameters.key(given, 'public');
    assertKeyType(fail, peer, 'public');
    if (peer.algorithm.name !== key.algorithm.name || peer.algorithm.namedCurve !== key.algorithm.namedCurve) {
      throw fail('InvalidAccessError', 'The two keys are not of one kind');
    }
    const secret = computeBytes(tools, { op: 'agree', key: key.material, peer: peer.material });
    if (bits === null) return secret;
    if (bits > secret.length * 8) throw fail('OperationError', `The secret has fewer than ${bits} bits`);
    const cut = secret.slice(0, Math.ceil(bits / 8));
    cutBits(cut, bits);
    return cut;
  }

  return [
    { ...nist('ECDSA'), ...signing(tools, (given) => ({ hash: parameters.hash(given), encoding: 'ieee-p1363' })) },
    { ...nist('ECDH'), deriveBits },
    { ...edwards('Ed25519'), ...signing(tools, () => ({})) },
    { ...edwards('X25519'), deriveBits },
  ];
}

/** Makes `sign` and `verify`. `optionsOf` gives the algorithm's options beside the key. */
function signing(
  tools: SubtleTools,
  optionsOf: (
    given: Dictionary,
    key: CryptoKeyParts,
  ) => { hash?: string; encoding?: string; padding?: number; salt?: number },
): Pick<SubtleAlgorithm, 'sign' | 'verify'> {
  const { fail, arithmetic } = tools;
  return {
    sign(given, key, data) {
      assertKeyType(fail, key, 'private');
      const options = optionsOf(given, key);
      return computeBytes(tools, { op: 'sign', key: key.material, data: base64Of(data), ...forNode(options) });
    },
    verify(given, key, signature, data) {
      assertKeyType(fail, key, 'public');
      const options = optionsOf(given, key);
      const question = {
        op: 'verify',
        key: key.material,
        data: base64Of(data),
        signature: base64Of(signature),
      } as const;
      return withErrorName(
        fail,
        'OperationError',
        () => arithmetic.bytes({ ...question, ...forNode(options) })[0] === 1,
      );
    },
  };
}

function forNode<T extends { hash?: string }>(options: T): T {
  return options.hash === undefined ? options : { ...options, hash: options.hash.replace('-', '').toLowerCase() };
}

function urlSafeBytes(text: string): Uint8Array {
  return bytesFromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
}

/** OpenSSL's numbers of the paddings (openssl/rsa.h). */
const PSS_PADDING = 6;

const PKCS1_PADDING = 1;

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
export function createRsa(tools: SubtleTools): readonly SubtleAlgorithm[] {
  const { fail, parameters, arithmetic } = tools;

  function keysOf(name: string, usages: KeyPairKind['usages']): SubtleAlgorithm {
    const kindOf = (hash: string): KeyPairKind => {
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
      async generateKey(given, request) {
        const bits = parameters.whole(given, 'modulusLength');
        const exponentBytes = parameters.bytes(given, 'publicExponent');
        const hash: HashName = parameters.hash(given);
        const kind = kindOf(hash);
        checkPairUsages(tools, kind, request);
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
        return makeKeyPair(tools, kind, text, algorithm, request);
      },
      importKey: (format, data, given, request) =>
        importOfPair(tools, kindOf(parameters.hash(given)), { format, data, request }),
      exportKey: (format, key) => exportOfPair(tools, kindOf(key.algorithm.hash?.name ?? ''), format, key),
    };
  }

  function algorithmOf({ kind, details }: ReadKey, name: string, hash: string): KeyAlgorithm {
    if (kind !== 'rsa') throw fail('DataError', 'The key is not one of RSA');
    const publicExponent = exponentOf(BigInt(String(details['publicExponent'])));
    return { name, modulusLength: Number(details['modulusLength']), publicExponent, hash: { name: hash } };
  }

  const seal = (use: 'publicEncrypt' | 'privateDecrypt') => (given: Dictionary, key: CryptoKeyParts, data: Bytes) => {
    assertKeyType(fail, key, use === 'publicEncrypt' ? 'public' : 'private');
    const label = base64Of(parameters.optionalBytes(given, 'label') ?? NONE);
    const hash = (key.algorithm.hash?.name ?? '').replace('-', '').toLowerCase();
    const question = { op: 'oaep', use, key: key.material, hash, data: base64Of(data) } as const;
    return computeBytes(tools, label === '' ? question : { ...question, label });
  };
  const hashOf = ({ algorithm }: CryptoKeyParts) => ({ hash: algorithm.hash?.name ?? '' });

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
