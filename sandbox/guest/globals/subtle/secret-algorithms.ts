import { base64Of, concatBytes } from '../encoding/bytes.ts';
import {
  type Bytes,
  type CryptoKeyParts,
  checkedUsages,
  computeBytes,
  type Dictionary,
  HASH_BLOCK_BITS,
  type HashName,
  makeKey,
  type SubtleAlgorithm,
  type SubtleTools,
} from './algorithm.ts';
import { cutBits, exportSecret, generateSecret, importSecret, type SecretKind } from './keys.ts';

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
export function createAes(tools: SubtleTools): readonly SubtleAlgorithm[] {
  const { fail, parameters } = tools;

  function run(op: Op, mode: string, { algorithm, material }: CryptoKeyParts, data: Bytes, settings: Settings): Bytes {
    const cipher = `aes-${algorithm.length ?? 0}-${mode}`;
    const { iv, aad = '', tag = 0 } = settings;
    return computeBytes(tools, { op, cipher, key: material, iv, aad, tag, data: base64Of(data) });
  }

  const cbc = (op: Op) => (given: Dictionary, key: CryptoKeyParts, data: Bytes) => {
    const iv = parameters.bytes(given, 'iv');
    if (iv.length !== BLOCK) throw fail('OperationError', 'The vector has no 16 bytes');
    return run(op, 'cbc', key, data, { iv: base64Of(iv) });
  };

  const gcm = (op: Op) => (given: Dictionary, key: CryptoKeyParts, data: Bytes) => {
    const iv = base64Of(parameters.bytes(given, 'iv'));
    const aad = base64Of(parameters.optionalBytes(given, 'additionalData') ?? NONE);
    const bits = parameters.optionalWhole(given, 'tagLength', 255) ?? 128;
    if (!TAGS.includes(bits)) throw fail('OperationError', 'The tag has no valid length');
    return run(op, 'gcm', key, data, { iv, aad, tag: bits / 8 });
  };

  const ctr = (given: Dictionary, key: CryptoKeyParts, data: Bytes) => {
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

  const wrap = (op: Op) => (_given: Dictionary, key: CryptoKeyParts, data: Bytes) =>
    run(op, 'wrap', key, data, { iv: WRAP_IV });

  function keysOf(name: string, usages: readonly string[]): SubtleAlgorithm {
    const kind: SecretKind = {
      use: 'enc',
      usages,
      alg: ({ length }) => `A${length ?? 0}${name.slice('AES-'.length)}`,
    };
    const lengthOf = (given: Dictionary) => {
      const length = parameters.whole(given, 'length', 65_535);
      if (!LENGTHS.includes(length)) throw fail('OperationError', 'The key has no valid length');
      return length;
    };
    return {
      name,
      lengthOf,
      generateKey: (given, request) => generateSecret(tools, kind, request, { name, length: lengthOf(given) }),
      importKey: (format, data, _given, request) =>
        importSecret(tools, kind, { format, data, request }, ({ length }) => {
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

const KIND: SecretKind = {
  use: 'sig',
  usages: ['sign', 'verify'],
  alg: ({ hash }) => `HS${hash?.name.slice(4) ?? ''}`,
};

/** Most bits of a new key. A longer key only costs memory: a key that is longer than a block is hashed. */
const MAX_BITS = 65_536;

/** HMAC (Web Cryptography 31). */
export function createHmac(tools: SubtleTools): SubtleAlgorithm {
  const { fail, parameters } = tools;

  function code({ algorithm, material }: CryptoKeyParts, data: Bytes): Bytes {
    const hash = algorithm.hash?.name ?? '';
    return computeBytes(tools, { op: 'hmac', hash, key: material, data: base64Of(data) });
  }

  function lengthOf(given: Dictionary, hash: HashName): number {
    const bits = parameters.optionalWhole(given, 'length');
    if (bits === 0) throw fail('OperationError', 'The key would have no bits');
    if (bits !== undefined && bits > MAX_BITS) throw fail('OperationError', `More than ${MAX_BITS} bits`);
    return bits ?? HASH_BLOCK_BITS[hash];
  }

  return {
    name: 'HMAC',
    sign: (_given, key, data) => code(key, data),
    verify: (_given, key, signature, data) => isEqual(code(key, data), signature),
    generateKey(given, request) {
      const hash = parameters.hash(given);
      const length = lengthOf(given, hash);
      return generateSecret(tools, KIND, request, { name: 'HMAC', length, hash: { name: hash } });
    },
    importKey(format, data, given, request) {
      const hash = parameters.hash(given);
      const asked = parameters.optionalWhole(given, 'length');
      return importSecret(tools, KIND, { format, data, request }, (bytes) => {
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
      return bits ?? HASH_BLOCK_BITS[hash];
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

const MAX_BYTES = 65_536;

/** HKDF and PBKDF2 (Web Cryptography 32 and 33). */
export function createSubtleDerivations(tools: SubtleTools): readonly SubtleAlgorithm[] {
  const { fail, parameters, arithmetic } = tools;

  function keysOf(name: string): SubtleAlgorithm {
    return {
      name,
      lengthOf: () => null,
      importKey(format, data, _given, request) {
        if (format !== 'raw') throw fail('NotSupportedError', `Such keys are not read as ${format}`);
        const usages = checkedUsages(fail, request, ['deriveKey', 'deriveBits']);
        if (request.extractable) throw fail('SyntaxError', 'Such keys are never extractable');
        const material = base64Of(data as Bytes);
        return makeKey({ type: 'secret', extractable: false, algorithm: { name }, usages, material });
      },
    };
  }

  function bytesFor(bits: number | null): number {
    if (bits === null || bits % 8 !== 0) throw fail('OperationError', 'The length is no number of whole bytes');
    if (bits / 8 > MAX_BYTES) throw fail('OperationError', `More than ${MAX_BYTES} bytes`);
    return bits / 8;
  }

  const salted = (given: Dictionary) => ({
    hash: parameters.hash(given),
    salt: base64Of(parameters.bytes(given, 'salt')),
  });

  return [
    {
      ...keysOf('HKDF'),
      deriveBits(given, { material }, bits) {
        const info = base64Of(parameters.bytes(given, 'info'));
        const { hash, salt } = salted(given);
        const length = bytesFor(bits);
        if (length === 0) return new Uint8Array(0);
        return computeBytes(tools, { op: 'hkdf', hash: hash.replace('-', ''), key: material, salt, info, length });
      },
    },
    {
      ...keysOf('PBKDF2'),
      async deriveBits(given, { material }, bits) {
        const { hash, salt } = salted(given);
        const iterations = parameters.whole(given, 'iterations');
        const length = bytesFor(bits);
        if (iterations === 0) throw fail('OperationError', 'There are no rounds');
        if (length === 0) return new Uint8Array(0);
        const question = { op: 'pbkdf2', password: material, salt, iterations, length } as const;
        try {
          return await arithmetic.bytesLater({ ...question, hash: hash.replace('-', '') });
        } catch (error) {
          throw fail('OperationError', error instanceof Error ? error.message : 'It failed');
        }
      },
    },
  ];
}
