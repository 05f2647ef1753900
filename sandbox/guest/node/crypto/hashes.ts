import { base64Of } from '../../globals/encoding/bytes.ts';
import { checkInteger, checkString, nodeError } from '../node-error.ts';
import { bufferOrText, bytesOf } from './arguments.ts';
import type { ProcessCrypto } from './process-crypto.ts';

/** Hashes that are there for certain, as OpenSSL names them. */
const HASHES = [
  ...['blake2b512', 'blake2s256', 'md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
  ...['sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'],
];

/** The name in {@link HASHES} for a name that OpenSSL takes; undefined if there is none. */
function hashNamed(given: string): string | undefined {
  const name = given
    .toLowerCase()
    .replace(/^rsa-(?=sha|md5|ripemd)/, '')
    .replace(/^sha-(?=\d)/, 'sha')
    .replace(/^rmd160$/, 'ripemd160');
  return HASHES.includes(name) ? name : undefined;
}

/** `createHash`, `createHmac` and `hash` of Node's module `crypto`. The process does the arithmetic. */
export function createHashing(arithmetic: ProcessCrypto, secretOf: (key: unknown) => string) {
  /** Keeps data that comes in pieces until its digest is asked for. */
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
    readonly #length: { length?: number };

    constructor(hash: unknown, options?: HashOptions) {
      super();
      checkString(hash, 'algorithm');
      const { outputLength } = options ?? {};
      if (outputLength !== undefined) checkInteger(outputLength, 'options.outputLength', 0, 2 ** 32 - 1);
      this.#hash = nameOf(hash);
      this.#length = outputLength === undefined ? {} : { length: outputLength };
      // Asks the process about any other name, so that it throws Node's own error.
      if (!HASHES.includes(this.#hash)) arithmetic.bytes({ op: 'digest', hash: this.#hash, data: '', ...this.#length });
    }

    digest(encoding?: unknown): Buffer | string {
      if (this.isOver) throw nodeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      const question = { op: 'digest', hash: this.#hash, data: this.whole(), ...this.#length } as const;
      return bufferOrText(arithmetic.bytes(question), encoding);
    }

    copy(options?: HashOptions): Hash {
      if (this.isOver) throw nodeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      const { length } = this.#length;
      const copy = new Hash(this.#hash, options ?? (length === undefined ? undefined : { outputLength: length }));
      copy.pieces = [...this.pieces];
      return copy;
    }
  }

  class Hmac extends Pieces {
    readonly #hash: string;
    readonly #key: string;

    constructor(hash: unknown, key: unknown) {
      super();
      checkString(hash, 'hmac');
      this.#key = isData(key) ? base64Of(bytesOf(key, 'utf8', 'key')) : secretOf(key);
      this.#hash = nameOf(hash);
      if (!HASHES.includes(this.#hash)) arithmetic.bytes({ op: 'hmac', hash: this.#hash, key: '', data: '' });
    }

    digest(encoding?: unknown): Buffer | string {
      if (this.isOver) return bufferOrText(new Uint8Array(), encoding);
      return bufferOrText(
        arithmetic.bytes({ op: 'hmac', hash: this.#hash, key: this.#key, data: this.whole() }),
        encoding,
      );
    }
  }

  return {
    Hash,
    Hmac,
    createHash: (name: unknown, options?: HashOptions) => new Hash(name, options),
    createHmac: (name: unknown, key: unknown) => new Hmac(name, key),
    hash(name: unknown, data: unknown, options: unknown = 'hex'): Buffer | string {
      const settings: HashOptions = typeof options === 'object' && options !== null ? options : {};
      const { outputEncoding = typeof options === 'string' ? options : 'hex', ...more } = settings;
      return new Hash(name, more).update(data).digest(outputEncoding);
    },
  };
}

interface HashOptions {
  outputEncoding?: unknown;
  outputLength?: number;
}

function nameOf(hash: string): string {
  return hashNamed(hash) ?? hash;
}

function isData(given: unknown): boolean {
  return typeof given === 'string' || ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
}
