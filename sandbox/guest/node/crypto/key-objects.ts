import { base64Of, bytesFromBase64 } from '../../globals/encoding/bytes.ts';
import { checkString, nodeError, wrongType, wrongValue } from '../node-error.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { KeyKind, ReadKey } from './crypto-question.ts';
import { anyBytesOf } from './hashes.ts';

type Given = Readonly<Record<string, unknown>>;

/** How a key is to be written. */
export interface KeyEncoding {
  format?: unknown;
  type?: unknown;
  cipher?: unknown;
  passphrase?: unknown;
}

const permit = Symbol('permit');

/** A key of Node's. Its bytes are in the guest, and go to the process with each question. */
export class KeyObject {
  readonly #type: 'secret' | KeyKind;
  /** A secret key's bytes, a private key's PKCS #8 or a public key's SPKI, in base64. */
  readonly #material: string;

  constructor(type: unknown, material?: unknown, given?: symbol) {
    if (type !== 'secret' && type !== 'public' && type !== 'private') throw wrongValue('type', type);
    // Node takes a handle here, which plugins never have.
    if (given !== permit) throw wrongType('handle', 'of type object', material);
    this.#type = type;
    this.#material = material as string;
  }

  static is(value: unknown): value is KeyObject {
    return typeof value === 'object' && value !== null && #material in value;
  }

  /** The material of a key of one of these types. */
  static materialOf(key: KeyObject, ...types: readonly ('secret' | KeyKind)[]): string {
    if (types.includes(key.#type)) return key.#material;
    const message = `Invalid key object type ${key.#type}, expected ${types.join(' or ')}.`;
    throw nodeError('ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', message, TypeError);
  }

  get type(): 'secret' | KeyKind {
    return this.#type;
  }

  equals(other: unknown): boolean {
    if (!KeyObject.is(other)) throw wrongType('otherKeyObject', 'an instance of KeyObject', other);
    return this.#type === other.#type && this.#material === other.#material;
  }

  get [Symbol.toStringTag](): string {
    return 'KeyObject';
  }
}

/** Takes keys of Web Cryptography apart and makes them. The part that has these keys provides this. */
export interface WebKeys {
  /** Undefined for anything else. */
  materialOf(key: unknown): { type: 'secret' | KeyKind; material: string } | undefined;
  make(key: { type: 'secret' | KeyKind; material: string }, ...more: unknown[]): unknown;
}

/** The classes of keys, and the functions that read and make keys. */
export function createKeyObjects(arithmetic: Arithmetic, web: () => WebKeys) {
  class SecretKeyObject extends KeyObject {
    get symmetricKeySize(): number {
      return bytesFromBase64(KeyObject.materialOf(this, 'secret')).length;
    }

    export(options: KeyEncoding = {}): Buffer | object {
      const bytes = Buffer.from(KeyObject.materialOf(this, 'secret'), 'base64');
      if (options.format === undefined || options.format === 'buffer') return bytes;
      if (options.format !== 'jwk') {
        throw wrongValue('options.format', options.format, "must be one of: undefined, 'buffer', 'jwk'");
      }
      return { kty: 'oct', k: bytes.toString('base64url') };
    }
  }

  class AsymmetricKeyObject extends KeyObject {
    #read: ReadKey | undefined;

    get asymmetricKeyType(): string {
      return this.#details().kind;
    }

    get asymmetricKeyDetails(): Record<string, unknown> {
      const details = Object.entries(this.#details().details).map(([name, value]) => [
        name,
        name === 'publicExponent' ? BigInt(value as string) : value,
      ]);
      return Object.fromEntries(details) as Record<string, unknown>;
    }

    #details(): ReadKey {
      const as = this.type as KeyKind;
      const key = KeyObject.materialOf(this, 'public', 'private');
      const type = as === 'private' ? 'pkcs8' : 'spki';
      this.#read ??= parseKey(arithmetic.text({ op: 'read-key', as, format: 'der', type, data: key }));
      return this.#read;
    }

    protected written(options: KeyEncoding, types: readonly string[]): Buffer | string | object {
      if (typeof options !== 'object' || options === null) throw wrongType('options', 'of type object', options);
      const { format, type, cipher, passphrase } = options;
      const as = this.type as KeyKind;
      const key = KeyObject.materialOf(this, as);
      if (format === 'jwk') {
        if (passphrase !== undefined) {
          const message = 'The selected key encoding jwk does not support encryption.';
          throw nodeError('ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', message);
        }
        return JSON.parse(arithmetic.text({ op: 'write-key', as, key, format })) as object;
      }
      if (format !== 'pem' && format !== 'der') throw wrongValue('options.format', format);
      if (!types.includes(type as string)) throw wrongValue('options.type', type);
      if (cipher !== undefined && cipher !== null) checkString(cipher, 'options.cipher');
      const locked = typeof cipher === 'string' && {
        cipher,
        passphrase: base64Of(anyBytesOf(passphrase, 'utf8', 'options.passphrase')),
      };
      const question = { op: 'write-key', as, key, format, type: type as string, ...locked } as const;
      const bytes = Buffer.from(arithmetic.bytes(question).buffer);
      return format === 'pem' ? bytes.toString() : bytes;
    }
  }

  class PublicKeyObject extends AsymmetricKeyObject {
    export(options: KeyEncoding): Buffer | string | object {
      return this.written(options, ['pkcs1', 'spki']);
    }
  }

  class PrivateKeyObject extends AsymmetricKeyObject {
    export(options: KeyEncoding): Buffer | string | object {
      return this.written(options, ['pkcs1', 'pkcs8', 'sec1']);
    }
  }

  const classes = { secret: SecretKeyObject, public: PublicKeyObject, private: PrivateKeyObject };

  /** A key object of this material. */
  function make(type: 'secret' | KeyKind, material: string): InstanceType<(typeof classes)[typeof type]> {
    return new classes[type](type, material, permit);
  }

  /** The given key object, or a key object for a key of Web Cryptography; undefined for any other value. */
  function objectOf(key: unknown): KeyObject | undefined {
    if (KeyObject.is(key)) return key;
    const known = typeof key === 'object' && key !== null ? web().materialOf(key) : undefined;
    return known && make(known.type, known.material);
  }

  function from(key: unknown): KeyObject {
    const known = KeyObject.is(key) ? undefined : objectOf(key);
    if (known === undefined) throw wrongType('key', 'an instance of CryptoKey', key);
    return known;
  }

  Object.defineProperty(KeyObject, 'from', { value: from, writable: true, configurable: true });
  Object.defineProperty(KeyObject.prototype, 'toCryptoKey', {
    value(this: KeyObject, ...more: unknown[]) {
      const { type } = this;
      return web().make({ type, material: KeyObject.materialOf(this, type) }, ...more);
    },
    writable: true,
    configurable: true,
  });

  return { KeyObject, classes, make, objectOf };
}

/** Parses a key that the process has read. */
export function parseKey(text: string): ReadKey {
  return JSON.parse(text) as ReadKey;
}

/** Whether a caller gave a key as an object with options, and not as data. */
export function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer);
}
