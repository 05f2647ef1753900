import { base64Of, bytesFromBase64 } from '../../globals/encoding/bytes.ts';
import { checkString, invalidArgType, invalidArgValue, nodeError } from '../node-error.ts';
import { bytesNamingArrayBuffer, bytesOf } from './arguments.ts';
import type { KeyKind, ReadKey } from './crypto-question.ts';
import type { ProcessCrypto } from './process-crypto.ts';

type KeyType = 'secret' | KeyKind;

/** How a key is to be written. */
interface KeyEncoding {
  format?: unknown;
  type?: unknown;
  cipher?: unknown;
  passphrase?: unknown;
}

/** A key that is not a key object: its bytes and their format. */
interface KeyData {
  format: 'pem' | 'der' | 'jwk';
  type?: string;
  data: Uint8Array;
}

/** Makes keys of Web Cryptography. The lazy module `subtle` provides it. */
export interface WebKeys {
  make(key: { type: KeyType; material: string }, ...more: unknown[]): unknown;
}

const KEY = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey';
const BYTES = 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView';
const PRIVATE = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, or URL';
const PRIVATE_PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const PRIVATE_TYPES: readonly unknown[] = ['pkcs8', 'sec1'];

/**
 * The class `KeyObject`, and the functions that read keys. A key's bytes are in the guest, and go to the process with
 * each question.
 */
export function createNodeKeys(arithmetic: ProcessCrypto, web: () => WebKeys) {
  const permit = Symbol('permit');
  let isKeyObject: (value: unknown) => value is KeyObject;
  /** The material of a key of one of these types. */
  let materialOf: (key: KeyObject, ...types: readonly KeyType[]) => string;

  class KeyObject {
    readonly #type: KeyType;
    /** A secret key's bytes, a private key's PKCS #8 or a public key's SPKI, in base64. */
    readonly #material: string;

    constructor(type: unknown, material?: unknown, given?: symbol) {
      if (type !== 'secret' && type !== 'public' && type !== 'private') throw invalidArgValue('type', type);
      // Node takes a handle here, which plugins never have.
      if (given !== permit) throw invalidArgType('handle', 'of type object', material);
      this.#type = type;
      this.#material = material as string;
    }

    static {
      isKeyObject = (value): value is KeyObject => typeof value === 'object' && value !== null && #material in value;
      materialOf = (key, ...types) => {
        if (types.includes(key.#type)) return key.#material;
        const message = `Invalid key object type ${key.#type}, expected ${types.join(' or ')}.`;
        throw nodeError('ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', message, TypeError);
      };
    }

    get type(): KeyType {
      return this.#type;
    }

    equals(other: unknown): boolean {
      if (!isKeyObject(other)) throw invalidArgType('otherKeyObject', 'an instance of KeyObject', other);
      return this.#type === other.#type && this.#material === other.#material;
    }

    toCryptoKey(...more: unknown[]): unknown {
      return web().make({ type: this.#type, material: this.#material }, ...more);
    }

    get [Symbol.toStringTag](): string {
      return 'KeyObject';
    }
  }

  class SecretKeyObject extends KeyObject {
    get symmetricKeySize(): number {
      return bytesFromBase64(materialOf(this, 'secret')).length;
    }

    export(options: KeyEncoding = {}): Buffer | object {
      const bytes = Buffer.from(materialOf(this, 'secret'), 'base64');
      if (options.format === undefined || options.format === 'buffer') return bytes;
      if (options.format !== 'jwk') {
        throw invalidArgValue('options.format', options.format, "must be one of: undefined, 'buffer', 'jwk'");
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
      const type = as === 'private' ? 'pkcs8' : 'spki';
      this.#read ??= read(as, { format: 'der', type, data: bytesFromBase64(materialOf(this, as)) });
      return this.#read;
    }

    protected written(options: KeyEncoding, types: readonly string[]): Buffer | string | object {
      if (typeof options !== 'object' || options === null) throw invalidArgType('options', 'of type object', options);
      const { format, type, cipher, passphrase } = options;
      if ((cipher ?? passphrase ?? undefined) !== undefined) throw locked();
      const as = this.type as KeyKind;
      const key = materialOf(this, as);
      if (format === 'jwk') return JSON.parse(arithmetic.text({ op: 'write-key', as, key, format })) as object;
      if (format !== 'pem' && format !== 'der') throw invalidArgValue('options.format', format);
      if (!types.includes(type as string)) throw invalidArgValue('options.type', type);
      const bytes = Buffer.from(arithmetic.bytes({ op: 'write-key', as, key, format, type: type as string }).buffer);
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

  function read(as: KeyKind, { format, type, data }: KeyData): ReadKey {
    const question = { op: 'read-key', as, format, data: base64Of(data) } as const;
    return JSON.parse(arithmetic.text(type === undefined ? question : { ...question, type })) as ReadKey;
  }

  /** The key object that was given, directly or as an option. */
  function objectIn(given: unknown): KeyObject | undefined {
    const key = isOptions(given) && !isKeyObject(given) ? given['key'] : given;
    return isKeyObject(key) ? key : undefined;
  }

  /** The PKCS #8 of a private key of any form. */
  function privateDer(given: unknown): string {
    const known = objectIn(given);
    return known === undefined ? read('private', keyData(given)).key : materialOf(known, 'private');
  }

  function publicOf(privateKey: string): string {
    const question = { op: 'read-key', as: 'public', format: 'private', data: privateKey } as const;
    return (JSON.parse(arithmetic.text(question)) as ReadKey).key;
  }

  /** The SPKI of a public key of any form, or of the public key that belongs to a private key. */
  function publicDer(given: unknown): string {
    const known = objectIn(given);
    if (known !== undefined) {
      const material = materialOf(known, 'public', 'private');
      return known.type === 'public' ? material : publicOf(material);
    }
    const data = keyData(given);
    return isPrivate(data) ? publicOf(read('private', data).key) : read('public', data).key;
  }

  return {
    KeyObject,
    classes: [SecretKeyObject, PublicKeyObject, PrivateKeyObject],
    privateDer,
    publicDer,
    /** The bytes of a secret key, base64. */
    secret: (given: unknown, name = 'key'): string =>
      isKeyObject(given) ? materialOf(given, 'secret') : base64Of(bytesFor(given, 'utf8', name)),
    createSecretKey(key: unknown, encoding?: unknown) {
      if (typeof key === 'string' && encoding !== undefined) checkString(encoding, 'encoding');
      return new SecretKeyObject('secret', base64Of(bytesOf(key, encoding, 'key', BYTES)), permit);
    },
    createPrivateKey(key: unknown) {
      const isNone = key === undefined || key === null || typeof key === 'number';
      if (isNone || isKeyObject(key)) throw invalidArgType('key', PRIVATE, key);
      return new PrivateKeyObject('private', privateDer(key), permit);
    },
    createPublicKey(key: unknown) {
      if (isKeyObject(key)) materialOf(key, 'private');
      return new PublicKeyObject('public', publicDer(key), permit);
    },
  };
}

export type NodeKeys = ReturnType<typeof createNodeKeys>;

/** Whether a caller gave a key as an object with options, and not as data. */
export function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer);
}

function keyData(given: unknown): KeyData {
  if (!isOptions(given)) return { format: 'pem', data: bytesFor(given, 'utf8', 'key') };
  const { key, format = 'pem', type, passphrase, encoding } = given;
  if (passphrase !== undefined) throw locked();
  if (format === 'jwk') {
    if (typeof key !== 'object' || key === null) throw invalidArgType('key.key', 'of type object', key);
    return { format, data: Buffer.from(JSON.stringify(key)) };
  }
  if (format !== 'pem' && format !== 'der') throw invalidArgValue('key.format', format);
  const data = bytesFor(key, encoding, 'key.key');
  if (format === 'pem') return { format, data };
  if (typeof type !== 'string') throw invalidArgValue('key.type', type);
  return { format, type, data };
}

function isPrivate({ format, type, data }: KeyData): boolean {
  if (format === 'pem') return PRIVATE_PEM.test(Buffer.from(data).toString('latin1'));
  if (format === 'der') return PRIVATE_TYPES.includes(type);
  return Object.hasOwn(JSON.parse(Buffer.from(data).toString()) as object, 'd');
}

function bytesFor(given: unknown, encoding: unknown, name: string): Uint8Array {
  const isData = typeof given === 'string' || ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
  if (!isData) throw invalidArgType(name, KEY, given);
  return bytesNamingArrayBuffer(given, encoding, name);
}

function locked(): Error {
  const message =
    'Keys with a passphrase are not there in a plugin. Give the key without one, as a secret of the plugin';
  return nodeError('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message);
}
