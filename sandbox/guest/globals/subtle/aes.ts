import { base64Of, concatBytes } from '../encoding/bytes.ts';
import { type Algorithm, computed, type Tools } from './algorithm.ts';
import type { KeyParts } from './crypto-key.ts';
import type { Bytes, Given } from './parameters.ts';
import { exportSecret, generateSecret, importSecret, type SecretKind } from './secret-keys.ts';

const LENGTHS = [128, 192, 256];
const BLOCK = 16;
/** Lengths of a tag that Web Cryptography allows for AES-GCM, in bits. */
const TAGS = [32, 64, 96, 104, 112, 120, 128];
/** RFC 3394 2.2.3.1. */
const WRAP_IV = base64Of(new Uint8Array(8).fill(0xa6));
const ALL = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
const NONE = new Uint8Array(0);

type Op = 'encrypt' | 'decrypt';
interface Settings {
  iv: string;
  aad?: string;
  tag?: number;
}

/** AES in its four modes (Web Cryptography 27 to 30). */
export function createAes(tools: Tools): readonly Algorithm[] {
  const { fail, parameters } = tools;

  function run(op: Op, mode: string, { algorithm, material }: KeyParts, data: Bytes, settings: Settings): Bytes {
    const cipher = `aes-${algorithm.length ?? 0}-${mode}`;
    const { iv, aad = '', tag = 0 } = settings;
    return computed(tools, { op, cipher, key: material, iv, aad, tag, data: base64Of(data) });
  }

  const cbc = (op: Op) => (given: Given, key: KeyParts, data: Bytes) => {
    const iv = parameters.bytes(given, 'iv');
    if (iv.length !== BLOCK) throw fail('OperationError', 'The vector has no 16 bytes');
    return run(op, 'cbc', key, data, { iv: base64Of(iv) });
  };

  const gcm = (op: Op) => (given: Given, key: KeyParts, data: Bytes) => {
    const iv = base64Of(parameters.bytes(given, 'iv'));
    const aad = base64Of(parameters.optionalBytes(given, 'additionalData') ?? NONE);
    const bits = parameters.optionalWhole(given, 'tagLength', 255) ?? 128;
    if (!TAGS.includes(bits)) throw fail('OperationError', 'The tag has no valid length');
    return run(op, 'gcm', key, data, { iv, aad, tag: bits / 8 });
  };

  const ctr = (given: Given, key: KeyParts, data: Bytes) => {
    const counter = parameters.bytes(given, 'counter');
    const bits = parameters.whole(given, 'length', 255);
    if (counter.length !== BLOCK) throw fail('OperationError', 'The counter has no 16 bytes');
    if (bits === 0 || bits > 128) throw fail('OperationError', 'The counter counts in 1 to 128 bits');
    const blocks = BigInt(Math.ceil(data.length / BLOCK));
    const all = 1n << BigInt(bits);
    if (blocks > all) throw fail('OperationError', 'The counter would count over');
    const left = all - (numberOf(counter) & (all - 1n));
    const whole = (part: Bytes, from: Bytes) => run('encrypt', 'ctr', key, part, { iv: base64Of(from) });
    if (blocks <= left) return whole(data, counter);
    // The counter is the last `bits` bits. When it starts again from zero, the bits before it stay.
    const cut = Number(left) * BLOCK;
    const again = bytesOf(numberOf(counter) & ~(all - 1n));
    return concatBytes([whole(data.slice(0, cut), counter), whole(data.slice(cut), again)]);
  };

  const wrap = (op: Op) => (_given: Given, key: KeyParts, data: Bytes) => run(op, 'wrap', key, data, { iv: WRAP_IV });

  function keysOf(name: string, usages: readonly string[]): Algorithm {
    const kind: SecretKind = {
      use: 'enc',
      usages,
      alg: ({ length }) => `A${length ?? 0}${name.slice('AES-'.length)}`,
    };
    const lengthOf = (given: Given) => {
      const length = parameters.whole(given, 'length', 65_535);
      if (!LENGTHS.includes(length)) throw fail('OperationError', 'The key has no valid length');
      return length;
    };
    return {
      name,
      lengthOf,
      generateKey: (given, wanted) => generateSecret(tools, kind, wanted, { name, length: lengthOf(given) }),
      importKey: (format, data, _given, wanted) =>
        importSecret(tools, kind, { format, data, wanted }, ({ length }) => {
          if (!LENGTHS.includes(length * 8)) throw fail('DataError', 'The key has no valid length');
          return { name, length: length * 8 };
        }),
      exportKey: (format, key) => exportSecret(tools, kind, format, key),
    };
  }

  return [
    { ...keysOf('AES-CBC', ALL), encrypt: cbc('encrypt'), decrypt: cbc('decrypt') },
    { ...keysOf('AES-CTR', ALL), encrypt: ctr, decrypt: ctr },
    { ...keysOf('AES-GCM', ALL), encrypt: gcm('encrypt'), decrypt: gcm('decrypt') },
    { ...keysOf('AES-KW', ['wrapKey', 'unwrapKey']), wrapKey: wrap('encrypt'), unwrapKey: wrap('decrypt') },
  ];
}

function numberOf(bytes: Bytes): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function bytesOf(number: bigint): Bytes {
  return Uint8Array.from({ length: BLOCK }, (_, at) => Number((number >> BigInt(8 * (BLOCK - 1 - at))) & 0xffn));
}
