import { base64Of } from '../../globals/encoding/bytes.ts';
import { checkString, wrongType, wrongValue } from '../node-error.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { KeyKind } from './crypto-question.ts';
import { anyBytesOf, bytesOf } from './hashes.ts';
import { type createKeyObjects, isGiven, KeyObject, parseKey } from './key-objects.ts';

const KEY = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey';
const BYTES = 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView';
const PRIVATE_PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const PRIVATE_TYPES: readonly unknown[] = ['pkcs8', 'sec1'];

/** Reads the arguments that Node's functions take as keys. */
export function createKeyReading(arithmetic: Arithmetic, keys: ReturnType<typeof createKeyObjects>) {
  const { make, objectOf } = keys;

  interface Written {
    format: 'pem' | 'der' | 'jwk';
    type: string | undefined;
    data: Uint8Array;
    passphrase: string | undefined;
  }

  /** The bytes and the format of a key that is not a key object. */
  function written(given: unknown): Written {
    if (!isGiven(given)) return { format: 'pem', type: undefined, data: pem(given), passphrase: undefined };
    const { key, format = 'pem', type, passphrase, encoding } = given;
    if (format === 'jwk') {
      if (typeof key !== 'object' || key === null) throw wrongType('key.key', 'of type object', key);
      return { format, type: undefined, data: Buffer.from(JSON.stringify(key)), passphrase: undefined };
    }
    if (format !== 'pem' && format !== 'der') throw wrongValue('key.format', format);
    if (format === 'der' && typeof type !== 'string') throw wrongValue('key.type', type);
    return {
      format,
      type: format === 'der' ? (type as string) : undefined,
      data: bytesFor(key, encoding, 'key.key'),
      passphrase: passphrase === undefined ? undefined : base64Of(anyBytesOf(passphrase, encoding, 'key.passphrase')),
    };
  }

  function pem(given: unknown): Uint8Array {
    return bytesFor(given, 'utf8', 'key');
  }

  function bytesFor(given: unknown, encoding: unknown, name: string): Uint8Array {
    const isData = typeof given === 'string' || ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
    if (!isData) throw wrongType(name, KEY, given);
    return anyBytesOf(given, encoding, name);
  }

  function ask(as: KeyKind, { format, type, data, passphrase }: Written): string {
    const question = { op: 'read-key', as, format, data: base64Of(data) } as const;
    const more = {
      ...(type === undefined ? {} : { type }),
      ...(passphrase === undefined ? {} : { passphrase }),
    };
    return parseKey(arithmetic.text({ ...question, ...more })).key;
  }

  /** The key object that was given, directly or as an option. */
  function objectIn(given: unknown): KeyObject | undefined {
    return objectOf(given) ?? (isGiven(given) ? objectOf(given['key']) : undefined);
  }

  /** The PKCS #8 of a private key of any form. */
  function privateDer(given: unknown): string {
    const known = objectIn(given);
    return known === undefined ? ask('private', written(given)) : KeyObject.materialOf(known, 'private');
  }

  function publicOf(privateKey: string): string {
    return parseKey(arithmetic.text({ op: 'read-key', as: 'public', format: 'private', data: privateKey })).key;
  }

  /** The SPKI of a public key of any form, or of the public key that belongs to a private key. */
  function publicDer(given: unknown): string {
    const known = objectIn(given);
    if (known !== undefined) {
      const material = KeyObject.materialOf(known, 'public', 'private');
      return known.type === 'public' ? material : publicOf(material);
    }
    const read = written(given);
    return isPrivate(read) ? publicOf(ask('private', read)) : ask('public', read);
  }

  function isPrivate({ format, type, data }: Written): boolean {
    if (format === 'pem') return PRIVATE_PEM.test(Buffer.from(data).toString('latin1'));
    if (format === 'der') return PRIVATE_TYPES.includes(type);
    return Object.hasOwn(JSON.parse(Buffer.from(data).toString()) as object, 'd');
  }

  /** The bytes of a secret key, base64. */
  function secret(given: unknown, name = 'key'): string {
    const known = objectOf(given);
    return known === undefined ? base64Of(bytesFor(given, 'utf8', name)) : KeyObject.materialOf(known, 'secret');
  }

  return {
    privateDer,
    publicDer,
    secret,
    createSecretKey(key: unknown, encoding?: unknown) {
      if (typeof key === 'string' && encoding !== undefined) checkString(encoding, 'encoding');
      return make('secret', base64Of(bytesOf(key, encoding, 'key', BYTES)));
    },
    createPrivateKey(key: unknown) {
      refuseObject(key, objectOf);
      return make('private', privateDer(key));
    },
    createPublicKey(key: unknown) {
      const known = objectOf(key);
      if (known !== undefined) KeyObject.materialOf(known, 'private');
      return make('public', publicDer(key));
    },
  };
}

export type KeyReading = ReturnType<typeof createKeyReading>;

const PRIVATE = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, or URL';

function refuseObject(given: unknown, objectOf: (given: unknown) => KeyObject | undefined): void {
  if (objectOf(given) !== undefined) throw wrongType('key', PRIVATE, given);
  if (given === undefined || given === null || typeof given === 'number') throw wrongType('key', PRIVATE, given);
}
