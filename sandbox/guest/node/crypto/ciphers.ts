import { base64Of, concatBytes } from '../../globals/encoding/bytes.ts';
import { checkString, nodeError } from '../node-error.ts';
import { StringDecoder } from '../string-decoder.ts';
import { bytesNamingArrayBuffer, bytesOf } from './arguments.ts';
import type { CipherStep } from './crypto-question.ts';
import type { NodeKeys } from './keys.ts';
import type { ProcessCrypto } from './process-crypto.ts';

/** Most bytes that go to the process in one step. */
const AT_ONCE = 65_536;
/** Ciphers that take all of their data at once. */
const WHOLE = /wrap|ccm|siv/i;
const TAG_BYTES = 16;
const NOTHING = new Uint8Array(0);
const TAGGED = /gcm$|ccm$|ocb$|poly1305$|siv$/i;

interface CipherOptions {
  authTagLength?: number;
}

/** `createCipheriv` and `createDecipheriv`. The process runs the cipher itself. */
export function createCiphers(arithmetic: ProcessCrypto, { secret }: NodeKeys) {
  class Steps {
    readonly #id: number;
    readonly #atOnce: number;
    readonly #tagBytes: number;
    #decoder: StringDecoder | undefined;
    #isOver = false;

    constructor(decrypt: boolean, cipher: unknown, key: unknown, iv: unknown, options: unknown) {
      checkString(cipher, 'cipher');
      const { authTagLength } = (options ?? {}) as CipherOptions;
      const question = { op: 'cipher', cipher, decrypt: decrypt ? 1 : 0, key: secret(key) } as const;
      const more = {
        ...(iv === null ? {} : { iv: base64Of(bytesNamingArrayBuffer(iv, 'utf8', 'iv')) }),
        ...(authTagLength === undefined ? {} : { tag: authTagLength }),
      };
      this.#id = Number(arithmetic.text({ ...question, ...more }));
      this.#atOnce = WHOLE.test(cipher) ? Number.POSITIVE_INFINITY : AT_ONCE;
      this.#tagBytes = !decrypt && TAGGED.test(cipher) ? (authTagLength ?? TAG_BYTES) : 0;
    }

    update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): Buffer | string {
      const bytes = bytesOf(data, inputEncoding, 'data');
      if (this.#isOver) throw new Error('Trying to add data in unsupported state');
      const pieces = [];
      for (let at = 0; at === 0 || at < bytes.length; at += this.#atOnce) {
        pieces.push(this.step('update', bytes.subarray(at, at + this.#atOnce)));
      }
      return this.#given(concatBytes(pieces), outputEncoding, false);
    }

    final(outputEncoding?: unknown): Buffer | string {
      if (this.#isOver) throw nodeError('ERR_CRYPTO_INVALID_STATE', 'Invalid state');
      this.#isOver = true;
      const all = this.step('final', NOTHING);
      const cut = all.length - this.#tagBytes;
      this.ended(all.slice(cut));
      return this.#given(all.slice(0, cut), outputEncoding, true);
    }

    setAutoPadding(on: unknown = true): this {
      this.step('padding', new Uint8Array(on ? 1 : 0));
      return this;
    }

    setAAD(data: unknown, options?: { encoding?: unknown; plaintextLength?: number }): this {
      this.#mustRun('setAAD');
      this.step('aad', bytesNamingArrayBuffer(data, options?.encoding, 'aadbuf'), options?.plaintextLength);
      return this;
    }

    protected setTag(tag: unknown, encoding: unknown): void {
      this.#mustRun('setAuthTag');
      this.step('tag', bytesNamingArrayBuffer(tag, encoding, 'tag'));
    }

    protected step(step: CipherStep, data: Uint8Array, length?: number): Uint8Array {
      const question = { op: 'step', id: this.#id, step, data: base64Of(data) } as const;
      return arithmetic.bytes(length === undefined ? question : { ...question, length });
    }

    /** Gets the tag of the encrypted data. */
    protected ended(_tag: Uint8Array): void {}

    #mustRun(operation: string): void {
      if (this.#isOver) throw nodeError('ERR_CRYPTO_INVALID_STATE', `Invalid state for operation ${operation}`);
    }

    #given(bytes: Uint8Array, encoding: unknown, isLast: boolean): Buffer | string {
      const buffer = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
      if (encoding === undefined || encoding === null || encoding === 'buffer') return buffer;
      this.#decoder ??= new StringDecoder(encoding);
      return isLast ? this.#decoder.end(buffer) : this.#decoder.write(buffer);
    }
  }

  class Cipheriv extends Steps {
    #tag: Buffer | undefined;

    constructor(cipher: unknown, key: unknown, iv: unknown, options?: unknown) {
      super(false, cipher, key, iv, options);
    }

    getAuthTag(): Buffer {
      if (this.#tag === undefined) {
        throw nodeError('ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation getAuthTag');
      }
      return Buffer.from(this.#tag);
    }

    protected override ended(tag: Uint8Array): void {
      if (tag.length > 0) this.#tag = Buffer.from(tag);
    }
  }

  class Decipheriv extends Steps {
    constructor(cipher: unknown, key: unknown, iv: unknown, options?: unknown) {
      super(true, cipher, key, iv, options);
    }

    setAuthTag(tag: unknown, encoding?: unknown): this {
      this.setTag(tag, encoding);
      return this;
    }
  }

  return {
    Cipheriv,
    Decipheriv,
    createCipheriv: (cipher: unknown, key: unknown, iv: unknown, options?: unknown) =>
      new Cipheriv(cipher, key, iv, options),
    createDecipheriv: (cipher: unknown, key: unknown, iv: unknown, options?: unknown) =>
      new Decipheriv(cipher, key, iv, options),
  };
}
