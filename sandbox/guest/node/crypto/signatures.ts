import { base64Of } from '../../globals/encoding/bytes.ts';
import { checkString, invalidArgValue, nodeError } from '../node-error.ts';
import { bufferOrText, bytesNamingArrayBuffer, bytesOf, nowOrLater } from './arguments.ts';
import type { SignatureQuestion } from './crypto-question.ts';
import { isOptions, type NodeKeys } from './keys.ts';
import type { ProcessCrypto } from './process-crypto.ts';

/** `sign`, `verify` and their forms for data that comes in pieces. */
export function createSignatures(arithmetic: ProcessCrypto, { privateDer, publicDer }: NodeKeys) {
  function signed(hash: string | undefined, data: Uint8Array, key: unknown): Buffer {
    const question = { op: 'sign', data: base64Of(data), key: privateDer(key), ...optionsOf(key) } as const;
    return Buffer.from(arithmetic.bytes(withHash(question, hash)).buffer);
  }

  function verified(hash: string | undefined, data: Uint8Array, key: unknown, signature: Uint8Array): boolean {
    const question = {
      op: 'verify',
      data: base64Of(data),
      key: publicDer(key),
      signature: base64Of(signature),
      ...optionsOf(key),
    } as const;
    return arithmetic.bytes(withHash(question, hash))[0] === 1;
  }

  class Pieces {
    protected readonly hash: string;
    protected pieces: Uint8Array[] = [];
    #isOver = false;

    constructor(hash: unknown) {
      checkString(hash, 'algorithm');
      this.hash = hash;
      try {
        arithmetic.bytes({ op: 'digest', hash, data: '' });
      } catch {
        throw nodeError('ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest', TypeError);
      }
    }

    update(data: unknown, encoding?: unknown): this {
      if (this.#isOver) throw over();
      this.pieces.push(bytesOf(data, encoding, 'data').slice());
      return this;
    }

    write(data: unknown, encoding?: unknown): boolean {
      this.update(data, encoding);
      return true;
    }

    end(data?: unknown, encoding?: unknown): this {
      return data === undefined ? this : this.update(data, encoding);
    }

    protected whole(): Uint8Array {
      if (this.#isOver) throw over();
      this.#isOver = true;
      return Buffer.concat(this.pieces);
    }
  }

  class Sign extends Pieces {
    sign(key: unknown, encoding?: unknown): Buffer | string {
      if (!key) throw nodeError('ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
      return bufferOrText(signed(this.hash, this.whole(), key), encoding);
    }
  }

  class Verify extends Pieces {
    verify(key: unknown, signature: unknown, encoding?: unknown): boolean {
      const bytes = bytesNamingArrayBuffer(signature, encoding, 'signature');
      return verified(this.hash, this.whole(), key, bytes);
    }
  }

  return {
    Sign,
    Verify,
    createSign: (hash: unknown) => new Sign(hash),
    createVerify: (hash: unknown) => new Verify(hash),
    sign(hash: unknown, data: unknown, key: unknown, callback?: unknown): Buffer | undefined {
      const [name, bytes] = [hashName(hash), bytesNamingArrayBuffer(data, 'utf8', 'data')];
      if (!key) throw nodeError('ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
      return nowOrLater(() => signed(name, bytes, key), callback);
    },
    verify(hash: unknown, data: unknown, key: unknown, signature: unknown, callback?: unknown): boolean | undefined {
      const [name, bytes] = [hashName(hash), bytesNamingArrayBuffer(data, 'utf8', 'data')];
      const checked = bytesNamingArrayBuffer(signature, 'utf8', 'signature');
      return nowOrLater(() => verified(name, bytes, key, checked), callback);
    },
  };
}

function over(): Error {
  return nodeError('ERR_CRYPTO_INVALID_STATE', 'Not initialised');
}

function hashName(hash: unknown): string | undefined {
  if (hash === undefined || hash === null) return undefined;
  checkString(hash, 'algorithm');
  return hash;
}

function withHash(question: SignatureQuestion, hash: string | undefined): SignatureQuestion {
  return hash === undefined ? question : { ...question, hash };
}

/** The options beside the key. */
function optionsOf(key: unknown): Partial<SignatureQuestion> {
  if (!isOptions(key)) return {};
  const { padding, saltLength, dsaEncoding, context } = key;
  const options: Partial<SignatureQuestion> = {};
  if (padding !== undefined) {
    if (!Number.isInteger(padding)) throw invalidArgValue('options.padding', padding);
    options.padding = padding as number;
  }
  if (saltLength !== undefined) {
    if (!Number.isInteger(saltLength)) throw invalidArgValue('options.saltLength', saltLength);
    options.salt = saltLength as number;
  }
  if (dsaEncoding !== undefined) {
    if (dsaEncoding !== 'der' && dsaEncoding !== 'ieee-p1363')
      throw invalidArgValue('options.dsaEncoding', dsaEncoding);
    options.encoding = dsaEncoding;
  }
  if (context !== undefined) options.context = base64Of(bytesNamingArrayBuffer(context, 'utf8', 'options.context'));
  return options;
}
