import { base64Of } from '../encoding/bytes.ts';
import { type Algorithm, computed, type Tools } from './algorithm.ts';
import type { KeyParts } from './crypto-key.ts';
import { type Bytes, type Given, HASHES, type HashName } from './parameters.ts';
import { cutBits, exportSecret, generateSecret, importSecret, type SecretKind } from './secret-keys.ts';

const KIND: SecretKind = {
  use: 'sig',
  usages: ['sign', 'verify'],
  alg: ({ hash }) => `HS${hash?.name.slice(4) ?? ''}`,
};
/** Most bits of a new key. A longer key only costs memory: a key that is longer than a block is hashed. */
const MAX_BITS = 65_536;

/** HMAC (Web Cryptography 31). */
export function createHmac(tools: Tools): Algorithm {
  const { fail, parameters } = tools;

  function code({ algorithm, material }: KeyParts, data: Bytes): Bytes {
    const hash = algorithm.hash?.name ?? '';
    return computed(tools, { op: 'hmac', hash, key: material, data: base64Of(data) });
  }

  function lengthOf(given: Given, hash: HashName): number {
    const bits = parameters.optionalWhole(given, 'length');
    if (bits === 0) throw fail('OperationError', 'The key would have no bits');
    if (bits !== undefined && bits > MAX_BITS) throw fail('OperationError', `More than ${MAX_BITS} bits`);
    return bits ?? HASHES[hash];
  }

  return {
    name: 'HMAC',
    sign: (_given, key, data) => code(key, data),
    verify: (_given, key, signature, data) => isEqual(code(key, data), signature),
    generateKey(given, wanted) {
      const hash = parameters.hash(given);
      const length = lengthOf(given, hash);
      return generateSecret(tools, KIND, wanted, { name: 'HMAC', length, hash: { name: hash } });
    },
    importKey(format, data, given, wanted) {
      const hash = parameters.hash(given);
      const asked = parameters.optionalWhole(given, 'length');
      return importSecret(tools, KIND, { format, data, wanted }, (bytes) => {
        const most = bytes.length * 8;
        const length = asked ?? most;
        if (most === 0 || length > most || length <= most - 8) {
          throw fail('DataError', 'The key has no valid length');
        }
        cutBits(bytes, length);
        return { name: 'HMAC', length, hash: { name: hash } };
      });
    },
    exportKey: (format, key) => exportSecret(tools, KIND, format, key),
    lengthOf(given) {
      const hash = parameters.hash(given);
      const bits = parameters.optionalWhole(given, 'length');
      if (bits === 0) throw new TypeError('The key would have no bits');
      return bits ?? HASHES[hash];
    },
  };
}

/** Compares two values. Values of one length always take the same time. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
