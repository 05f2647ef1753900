import { base64Of, bytesFromBase64 } from '../../globals/encoding/bytes.ts';
import type { PartWorld } from '../../part-world.ts';
import { checkString, nodeError, wrongType } from '../node-error.ts';

/** Hashes that the process computes, as OpenSSL names them. */
export const HASHES = [
  ...['blake2b512', 'blake2s256', 'md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
  ...['sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'],
];

/** The name of a hash under one of those that OpenSSL takes for it; undefined where there is none. */
function hashNamed(given: string): string | undefined {
  const name = given
    .toLowerCase()
    .replace(/^rsa-(?=sha|md5|ripemd)/, '')
    .replace(/^sha-(?=\d)/, 'sha')
    .replace(/^rmd160$/, 'ripemd160');
  return HASHES.includes(name) ? name : undefined;
}

/** The bytes of what Node's functions take as data. */
export function bytesOf(data: unknown, encoding: unknown, name: string): Uint8Array {
  if (typeof data === 'string')
    return Buffer.from(data, encoding === 'buffer' ? 'utf8' : (encoding as 'utf8' | undefined));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw wrongType(name, 'of type string or an instance of Buffer, TypedArray, or DataView', data);
}

/** Bytes as the caller wants them: a Buffer, or text. */
export function given(bytes: Uint8Array, encoding: unknown): Buffer | string {
  const buffer = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === null || encoding === 'buffer'
    ? buffer
    : buffer.toString(encoding as 'utf8');
}

/** `createHash`, `createHmac` and `hash` of Node's module `crypto`; the arithmetic is the process's. */
export function createHashing(compute: PartWorld['compute']) {
  function computed(question: Parameters<PartWorld['compute']>[0]): Uint8Array {
    const answer = compute(question);
    if (answer === undefined)
      throw nodeError('ERR_CRYPTO_OPERATION_FAILED', 'The data is too large to be hashed at once');
    return bytesFromBase64(answer);
  }

  /** Data that comes in pieces is kept until its digest is asked for. */
  class Pieces {
    protected pieces: Uint8Array[] = [];
    protected isOver = false;

    update(data: unknown, encoding?: unknown): this {
      if (this.isOver) throw nodeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      this.pieces.push(bytesOf(data, encoding, 'data').slice());
      return this;
    }

    protected whole(): string {
      const whole = base64Of(Buffer.concat(this.pieces));
      this.pieces = [];
      this.isOver = true;
      return whole;
    }
  }

  class Hash extends Pieces {
    readonly #hash: string;

    constructor(hash: string) {
      super();
      this.#hash = hash;
    }

    digest(encoding?: unknown): Buffer | string {
      if (this.isOver) throw nodeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      return given(computed({ op: 'digest', hash: this.#hash, data: this.whole() }), encoding);
    }

    copy(): Hash {
      if (this.isOver) throw nodeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      const copy = new Hash(this.#hash);
      copy.pieces = [...this.pieces];
      return copy;
    }
  }

  class Hmac extends Pieces {
    readonly #hash: string;
    readonly #key: string;

    constructor(hash: string, key: Uint8Array) {
      super();
      this.#hash = hash;
      this.#key = base64Of(key);
    }

    digest(encoding?: unknown): Buffer | string {
      if (this.isOver) return given(new Uint8Array(), encoding);
      return given(computed({ op: 'hmac', hash: this.#hash, key: this.#key, data: this.whole() }), encoding);
    }
  }

  return {
    Hash,
    Hmac,
    createHash(name: unknown): Hash {
      checkString(name, 'algorithm');
      const hash = hashNamed(name);
      if (hash === undefined) throw new Error('Digest method not supported');
      return new Hash(hash);
    },
    createHmac(name: unknown, key: unknown): Hmac {
      checkString(name, 'hmac');
      const bytes = bytesOf(key, 'utf8', 'key');
      const hash = hashNamed(name);
      if (hash === undefined) throw nodeError('ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`, TypeError);
      return new Hmac(hash, bytes);
    },
    hash(name: unknown, data: unknown, encoding: unknown = 'hex'): Buffer | string {
      checkString(name, 'algorithm');
      const hash = hashNamed(name);
      if (hash === undefined) throw new Error('Digest method not supported');
      return new Hash(hash).update(data).digest(encoding);
    },
    getHashes: () => [...HASHES],
  };
}
