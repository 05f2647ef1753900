import type { KeyObject, SigningOptions, webcrypto } from 'node:crypto';
import type { KeyKind, OaepUse, ReadKey } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../node-builtins.ts';
import { type CryptoQuestionFields, CryptoRefusal, clearOpenSslErrors } from './question-fields.ts';
import { type GivenChance, seededOaep, seededSignature } from './seeded.ts';

/**
 * Longest key in DER. A private RSA key with 4096 bits has 2400 bytes. A longer key would hold numbers that take long
 * to compute with.
 */
const MAX_DER_BYTES = 4096;
const MAX_TEXT_BYTES = 32_768;
const MAX_PRIVATE_BITS = 4096;
const MAX_PUBLIC_BITS = 8192;
/**
 * Kinds of keys whose computing time has a bound. Classic Diffie-Hellman and DSA are missing: their keys bring their
 * own primes.
 */
const KINDS: readonly string[] = ['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448', 'x25519', 'x448'];

/** OpenSSL's number of the padding (openssl/rsa.h). */
const OAEP_PADDING = 4;
const OAEP_USES: readonly OaepUse[] = ['publicEncrypt', 'privateDecrypt'];
const MAX_PADDING = 6;
const MAX_CONTEXT_BYTES = 255;
const MAX_LABEL_BYTES = 4096;
const MAX_SIGNATURE_BYTES = 4096;
const YES = Buffer.from([1]);
const NO = Buffer.from([0]);

/** Makes a signature, or checks one and returns the answer as a byte. */
export function computeSignature(question: CryptoQuestionFields, { chance }: GivenChance): Buffer {
  const { sign: signed, verify } = nodeCrypto();
  const hash = question.optional('hash');
  const data = question.bytes('data');
  if (question.one('op', ['sign', 'verify']) === 'sign') {
    const [key, options] = [privateKey(question), optionsOf(question)];
    const seeded = chance === undefined ? undefined : seededSignature(data, key, { hash, ...options }, chance);
    return seeded ?? signed(hash, data, { key, ...options });
  }
  const signature = question.bytes('signature', MAX_SIGNATURE_BYTES);
  return verify(hash, data, { key: publicKey(question), ...optionsOf(question) }, signature) ? YES : NO;
}

function optionsOf(question: CryptoQuestionFields): SigningOptions & { context?: Buffer } {
  const options: SigningOptions & { context?: Buffer } = {};
  const padding = question.optionalWhole('padding', MAX_PADDING);
  const saltLength = question.optionalWhole('salt', 65_536, -3);
  const context = question.optionalBytes('context', MAX_CONTEXT_BYTES);
  if (padding !== undefined) options.padding = padding;
  if (saltLength !== undefined) options.saltLength = saltLength;
  if (question.optional('encoding') !== undefined) {
    options.dsaEncoding = question.one<'der' | 'ieee-p1363'>('encoding', ['der', 'ieee-p1363']);
  }
  if (context !== undefined) options.context = context;
  return options;
}

/** Encrypts or decrypts with RSA-OAEP. */
export function computeOaep(question: CryptoQuestionFields, { chance }: GivenChance): Buffer {
  const use = question.one('use', OAEP_USES);
  const label = question.optionalBytes('label', MAX_LABEL_BYTES);
  const options = {
    key: use === 'publicEncrypt' ? publicKey(question) : privateKey(question),
    padding: OAEP_PADDING,
    oaepHash: question.text('hash'),
    ...(label === undefined ? {} : { oaepLabel: label }),
  };
  const data = question.bytes('data', MAX_SIGNATURE_BYTES);
  if (chance !== undefined && use === 'publicEncrypt') {
    return seededOaep(data, options.key, options.oaepHash, label, chance);
  }
  return nodeCrypto()[use](options, data);
}

/** Computes the shared secret of two keys of one kind. */
export function computeSharedSecret(question: CryptoQuestionFields): Buffer {
  return nodeCrypto().diffieHellman({
    privateKey: privateKey(question),
    publicKey: publicKey(question, 'peer'),
  });
}

/** The private key in the question's field, as it crosses the boundary. */
function privateKey(question: CryptoQuestionFields, field = 'key'): KeyObject {
  const key = question.bytes(field, MAX_DER_BYTES);
  clearOpenSslErrors();
  return checked(nodeCrypto().createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
}

/** The public key in the question's field, as it crosses the boundary. */
function publicKey(question: CryptoQuestionFields, field = 'key'): KeyObject {
  const key = question.bytes(field, MAX_DER_BYTES);
  return checked(nodeCrypto().createPublicKey({ key, format: 'der', type: 'spki' }));
}

/** Reads a key in any form. Returns JSON text of a {@link ReadKey}. */
export function readCryptoKey(question: CryptoQuestionFields): string {
  const as = question.one<KeyKind>('as', ['private', 'public']);
  return describeCryptoKey(checked(as === 'private' ? readPrivate(question) : readPublic(question)));
}

/** Describes a key by its bytes, kind and details, as JSON text. */
export function describeCryptoKey(key: KeyObject): string {
  const isPrivate = key.type === 'private';
  const der = key.export({ format: 'der', type: isPrivate ? 'pkcs8' : 'spki' } as { format: 'der'; type: 'spki' });
  const details = Object.entries(key.asymmetricKeyDetails ?? {}).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  const read: ReadKey = {
    key: der.toString('base64'),
    kind: key.asymmetricKeyType ?? '',
    details: Object.fromEntries(details),
  };
  return JSON.stringify(read);
}

/** Writes a key into any form. */
export function writeCryptoKey(question: CryptoQuestionFields): Buffer | string {
  const as = question.one<KeyKind>('as', ['private', 'public']);
  const key = as === 'private' ? privateKey(question) : publicKey(question);
  const format = question.one('format', ['pem', 'der', 'jwk']);
  if (format === 'jwk') return JSON.stringify(key.export({ format }));
  const type = question.one('type', ['pkcs1', 'pkcs8', 'sec1', 'spki']);
  const written: string | Buffer = key.export({ format, type } as { format: 'pem'; type: 'spki' });
  return typeof written === 'string' ? Buffer.from(written) : written;
}

function readPrivate(question: CryptoQuestionFields): KeyObject {
  const { createPrivateKey } = nodeCrypto();
  const data = question.bytes('data', MAX_TEXT_BYTES);
  const format = question.one('format', ['pem', 'der', 'jwk']);
  clearOpenSslErrors();
  if (format === 'jwk') return createPrivateKey({ key: parsed(data), format });
  if (format === 'pem') return createPrivateKey({ key: data, format });
  const type = question.one<'pkcs1' | 'pkcs8' | 'sec1'>('type', ['pkcs1', 'pkcs8', 'sec1']);
  return createPrivateKey({ key: data, format, type });
}

function readPublic(question: CryptoQuestionFields): KeyObject {
  const { createPublicKey } = nodeCrypto();
  const data = question.bytes('data', MAX_TEXT_BYTES);
  const format = question.one('format', ['pem', 'der', 'jwk', 'private', 'point']);
  switch (format) {
    case 'jwk':
      return createPublicKey({ key: parsed(data), format });
    case 'private':
      return createPublicKey(checked(nodeCrypto().createPrivateKey({ key: data, format: 'der', type: 'pkcs8' })));
    case 'point':
      return readPoint(question.text('curve'), data);
    case 'pem':
      return createPublicKey({ key: data, format });
    default:
      return createPublicKey({ key: data, format, type: question.one<'pkcs1' | 'spki'>('type', ['pkcs1', 'spki']) });
  }
}

/** Reads a point of a curve in SEC 1's form, uncompressed or compressed. */
function readPoint(curve: string, data: Buffer): KeyObject {
  const { ECDH, createPublicKey } = nodeCrypto();
  const name = CURVES.get(curve);
  if (name === undefined) throw new CryptoRefusal(`${curve} is not a curve of JSON Web Keys`);
  const point = ECDH.convertKey(data, name, undefined, undefined, 'uncompressed') as Buffer;
  const half = (point.length - 1) / 2;
  const x = point.subarray(1, 1 + half).toString('base64url');
  const y = point.subarray(1 + half).toString('base64url');
  return createPublicKey({ key: { kty: 'EC', crv: curve, x, y }, format: 'jwk' });
}

const CURVES: ReadonlyMap<string, string> = new Map([
  ['P-256', 'prime256v1'],
  ['P-384', 'secp384r1'],
  ['P-521', 'secp521r1'],
]);

function parsed(data: Buffer): webcrypto.JsonWebKey {
  const value: unknown = JSON.parse(data.toString());
  if (typeof value !== 'object' || value === null) throw new CryptoRefusal('The key is not a JSON Web Key');
  return value;
}

function checked(key: KeyObject): KeyObject {
  const { type, asymmetricKeyType = '', asymmetricKeyDetails = {} } = key;
  if (!KINDS.includes(asymmetricKeyType)) throw new CryptoRefusal(`Keys of ${asymmetricKeyType} are not supported`);
  const most = type === 'private' ? MAX_PRIVATE_BITS : MAX_PUBLIC_BITS;
  if ((asymmetricKeyDetails.modulusLength ?? 0) > most) throw new CryptoRefusal(`The key has more than ${most} bits`);
  // The key brings its own curve parameters instead of a name.
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails.namedCurve === undefined) {
    throw new CryptoRefusal('The curve of the key has no name');
  }
  return key;
}
