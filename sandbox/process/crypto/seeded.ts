/**
 * What OpenSSL does with chance of its own, done with chance from a seed instead: OpenSSL takes none from outside. Only
 * durable calls use it.
 */
import type { Cipheriv, KeyObject, webcrypto } from 'node:crypto';
import { nodeCrypto } from '../node-builtins.ts';
import { CryptoRefusal } from './question-fields.ts';

const SEED_BYTES = 32;

/** A sequence of bytes that follows from a seed and looks like chance: the key stream of AES-256 in counter mode. */
export class SeededChance {
  readonly #seed: string | Buffer;
  readonly #use: string;
  /** Made for the first bytes. Most calls draw none. */
  #stream: Cipheriv | undefined;

  /** @param use separates sequences from one seed */
  constructor(seed: string | Buffer, use: string) {
    this.#seed = seed;
    this.#use = use;
  }

  bytes(count: number): Buffer {
    this.#stream ??= this.#begin();
    return this.#stream.update(Buffer.alloc(count));
  }

  #begin(): Cipheriv {
    const { createHmac, createCipheriv } = nodeCrypto();
    const key = createHmac('sha256', Buffer.from(this.#seed as string, 'hex'))
      .update(this.#use)
      .digest();
    return createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  }

  /** A sequence of its own, for work that runs beside the guest. */
  fork(): SeededChance {
    return new SeededChance(this.bytes(SEED_BYTES), 'fork');
  }
}

/** Chance that a durable call begins with. Without it, OpenSSL draws for itself. */
export interface GivenChance {
  readonly chance?: SeededChance | undefined;
}

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** PKCS #8 of the keys of RFC 8410, up to the key's own bytes. */
const RAW_HEADS: Readonly<Record<string, string>> = {
  ed25519: '302e020100300506032b657004220420',
  x25519: '302e020100300506032b656e04220420',
};

interface Curve {
  /** Its name in JSON Web Keys. */
  readonly crv: string;
  readonly order: bigint;
}

/** By OpenSSL's names. */
const CURVES: ReadonlyMap<string, Curve> = new Map([
  ['prime256v1', { crv: 'P-256', order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n }],
  [
    'secp384r1',
    {
      crv: 'P-384',
      order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    },
  ],
  [
    'secp521r1',
    {
      crv: 'P-521',
      order:
        0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
    },
  ],
  ['secp256k1', { crv: 'secp256k1', order: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n }],
]);

function curveNamed(name = ''): Curve & { readonly name: string; readonly bytes: number } {
  const known = CURVES.get(name);
  if (known === undefined) {
    const usable = [...CURVES.keys()].join(', ');
    throw new CryptoRefusal(`A durable call cannot draw numbers for the curve ${name}. Use one of ${usable}`);
  }
  return { ...known, name, bytes: bytesFor(known.order) };
}

/** A pair of keys of one of the kinds that need no search. */
export function seededPair(kind: string, curve: string | undefined, chance: SeededChance): Pair {
  const { createPrivateKey, createECDH } = nodeCrypto();
  const head = RAW_HEADS[kind];
  if (head !== undefined) {
    const key = Buffer.concat([Buffer.from(head, 'hex'), chance.bytes(32)]);
    return pairOf(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
  }
  const { crv, order, bytes, name } = curveNamed(curve);
  const d = toBytes(scalar(order, chance.bytes(bytes + 8)), bytes);
  const ecdh = createECDH(name);
  ecdh.setPrivateKey(d);
  const point = ecdh.getPublicKey();
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)].map(urlSafe) as [string, string];
  return pairOf(privateOf({ kty: 'EC', crv, x, y, d: urlSafe(d) }));
}

/** Searches a pair of keys of RSA on other threads, or at once. */
export function seededRsaPair(bits: number, exponent: number, chance: SeededChance) {
  const e = BigInt(exponent);
  if (e < 3n || e % 2n === 0n) throw new CryptoRefusal('The exponent of a key of RSA is odd and at least 3');
  const sizes = [bits - (bits >> 1), bits >> 1] as const;
  const candidate = (size: number) => {
    const bytes = chance.bytes(Math.ceil(size / 8));
    // The two highest bits make the product of two as long as it should be.
    return (fromBytes(bytes) & ((1n << BigInt(size)) - 1n)) | (3n << BigInt(size - 2)) | 1n;
  };
  const fits = (p: bigint, other: bigint | undefined) =>
    (p - 1n) % e !== 0n && p !== other && inverse(e, p - 1n) !== 0n;
  const pair = (p: bigint, q: bigint) => pairOf(privateOf(rsaKey(p, q, e)));
  return {
    run(): Pair {
      const { checkPrimeSync } = nodeCrypto();
      const found: bigint[] = [];
      for (const size of sizes) {
        let p = candidate(size);
        while (!fits(p, found[0]) || !checkPrimeSync(p)) p = candidate(size);
        found.push(p);
      }
      return pair(...(found as [bigint, bigint]));
    },
    start(done: (error: unknown, pair?: Pair) => void): void {
      const { checkPrime } = nodeCrypto();
      const found: bigint[] = [];
      const next = (): void => {
        const size = sizes[found.length];
        if (size === undefined) return done(null, pair(...(found as [bigint, bigint])));
        const p = candidate(size);
        if (!fits(p, found[0])) return next();
        checkPrime(p, (error, isPrime) => {
          if (error !== null && error !== undefined) return done(error);
          if (isPrime) found.push(p);
          return next();
        });
      };
      next();
    },
  };
}

function rsaKey(p: bigint, q: bigint, e: bigint): webcrypto.JsonWebKey {
  const [larger, smaller] = p > q ? [p, q] : [q, p];
  const d = inverse(e, (p - 1n) * (q - 1n));
  const text = (number: bigint) => urlSafe(toBytes(number, bytesFor(number)));
  return {
    kty: 'RSA',
    n: text(p * q),
    e: text(e),
    d: text(d),
    p: text(larger),
    q: text(smaller),
    dp: text(d % (larger - 1n)),
    dq: text(d % (smaller - 1n)),
    qi: text(inverse(smaller, larger)),
  };
}

/** How a signature is to be made. Fields as Node's `sign` has them. */
export interface SigningForm {
  hash: string | undefined;
  padding?: number | undefined;
  saltLength?: number | undefined;
  dsaEncoding?: 'der' | 'ieee-p1363' | undefined;
}

const PSS_PADDING = 6;
/** OpenSSL's numbers for lengths of a salt: that of the hash. All others mean the longest. */
const SALT_LIKE_HASH = -1;

/**
 * Makes a signature with a drawn number.
 * @returns undefined for keys and forms whose signature draws none
 */
export function seededSignature(
  data: Buffer,
  key: KeyObject,
  { hash = 'sha256', padding, saltLength = -2, dsaEncoding = 'der' }: SigningForm,
  chance: SeededChance,
): Buffer | undefined {
  if (key.asymmetricKeyType === 'ec') return ecdsa(nodeCrypto().hash(hash, data, 'buffer'), key, dsaEncoding, chance);
  if (key.asymmetricKeyType === 'rsa-pss') throw new CryptoRefusal('A durable call cannot sign with keys of rsa-pss');
  return padding === PSS_PADDING ? pss(hash, data, key, saltLength, chance) : undefined;
}

/**
 * ECDSA (FIPS 186-5 6.4). The drawn number also depends on the key and on the data: if another run of the call should
 * sign other data at the same place, two signatures with one number would give the key away.
 */
function ecdsa(digest: Buffer, key: KeyObject, encoding: 'der' | 'ieee-p1363', chance: SeededChance): Buffer {
  const { createECDH, createHmac } = nodeCrypto();
  const { order, bytes, name } = curveNamed(key.asymmetricKeyDetails?.namedCurve);
  const secret = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
  const excess = BigInt(Math.max(0, digest.length * 8 - bitsOf(order)));
  const z = fromBytes(digest) >> excess;
  const drawn = chance.bytes(SEED_BYTES);
  for (let attempt = 0; ; attempt += 1) {
    const hedge = (at: number) =>
      createHmac('sha512', drawn)
        .update(Buffer.from([attempt, at]))
        .update(secret)
        .update(digest)
        .digest();
    const k = scalar(order, Buffer.concat([hedge(0), hedge(1)]).subarray(0, bytes + 8));
    const ecdh = createECDH(name);
    ecdh.setPrivateKey(toBytes(k, bytes));
    const r = fromBytes(ecdh.getPublicKey().subarray(1, 1 + bytes)) % order;
    const s = (inverse(k, order) * (z + r * fromBytes(secret))) % order;
    if (r === 0n || s === 0n) continue;
    if (encoding === 'ieee-p1363') return Buffer.concat([toBytes(r, bytes), toBytes(s, bytes)]);
    return der(0x30, Buffer.concat([derNumber(r), derNumber(s)]));
  }
}

function der(tag: number, body: Buffer): Buffer {
  const length = body.length < 128 ? [body.length] : [0x81, body.length];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function derNumber(number: bigint): Buffer {
  const bytes = toBytes(number, bytesFor(number));
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** RSASSA-PSS (RFC 8017 8.1.1 and 9.1.1). */
function pss(hashName: string, data: Buffer, key: KeyObject, saltLength: number, chance: SeededChance): Buffer {
  const { hash, privateEncrypt, constants } = nodeCrypto();
  const bits = (key.asymmetricKeyDetails?.modulusLength ?? 0) - 1;
  const length = Math.ceil(bits / 8);
  const digest = hash(hashName, data, 'buffer');
  const longest = length - digest.length - 2;
  const wanted = saltLength >= 0 ? saltLength : saltLength === SALT_LIKE_HASH ? digest.length : longest;
  if (wanted > longest || longest < 0) throw new CryptoRefusal('The key is too short for the hash and the salt');
  const salt = chance.bytes(wanted);
  const h = hash(hashName, Buffer.concat([Buffer.alloc(8), digest, salt]), 'buffer');
  const block = Buffer.concat([Buffer.alloc(longest - wanted), Buffer.from([1]), salt]);
  const masked = xor(block, mask(hashName, h, block.length));
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * length - bits));
  const whole = Buffer.concat([masked, h, Buffer.from([0xbc])]);
  const padded = Buffer.concat([Buffer.alloc(Math.ceil((bits + 1) / 8) - length), whole]);
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, padded);
}

/** Encrypts with RSA-OAEP (RFC 8017 7.1.1). */
export function seededOaep(
  data: Buffer,
  key: KeyObject,
  hashName: string,
  label: Buffer | undefined,
  chance: SeededChance,
): Buffer {
  const { hash, publicEncrypt, constants } = nodeCrypto();
  const length = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  const digest = hash(hashName, label ?? '', 'buffer');
  const room = length - 2 * digest.length - 2;
  if (data.length > room) throw new CryptoRefusal(`The data is longer than the ${room} bytes that the key takes`);
  const seed = chance.bytes(digest.length);
  const block = Buffer.concat([digest, Buffer.alloc(room - data.length), Buffer.from([1]), data]);
  const masked = xor(block, mask(hashName, seed, block.length));
  const maskedSeed = xor(seed, mask(hashName, masked, seed.length));
  return publicEncrypt(
    { key, padding: constants.RSA_NO_PADDING },
    Buffer.concat([Buffer.from([0]), maskedSeed, masked]),
  );
}

/** MGF1 (RFC 8017 B.2.1). */
function mask(hashName: string, seed: Buffer, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let made = 0, counter = 0; made < length; counter += 1) {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const part = nodeCrypto().hash(hashName, Buffer.concat([seed, count]), 'buffer');
    parts.push(part);
    made += part.length;
  }
  return Buffer.concat(parts).subarray(0, length);
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, at) => byte ^ (b[at] ?? 0)));
}

function privateOf(key: webcrypto.JsonWebKey): KeyObject {
  return nodeCrypto().createPrivateKey({ key, format: 'jwk' });
}

function pairOf(privateKey: KeyObject): Pair {
  return { privateKey, publicKey: nodeCrypto().createPublicKey(privateKey) };
}

/** A number from 1 to below the order. Eight bytes more than it has make all of them equally likely. */
function scalar(order: bigint, bytes: Buffer): bigint {
  return (fromBytes(bytes) % (order - 1n)) + 1n;
}

/** The number that times `of` leaves 1; 0 when there is none. */
function inverse(of: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [((of % modulus) + modulus) % modulus, modulus, 1n, 0n];
  while (a > 1n && b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return a === 1n ? ((x % modulus) + modulus) % modulus : 0n;
}

function fromBytes(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
}

function toBytes(number: bigint, length: number): Buffer {
  return Buffer.from(number.toString(16).padStart(length * 2, '0'), 'hex');
}

function bitsOf(number: bigint): number {
  return number.toString(2).length;
}

function bytesFor(number: bigint): number {
  return Math.ceil(bitsOf(number) / 8);
}

function urlSafe(bytes: Buffer): string {
  return bytes.toString('base64url');
}
