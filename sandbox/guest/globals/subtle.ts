import type { CryptoQuestion } from '../host-function.ts';
import { base64Of, bytesFromBase64, copyOfBytes } from './encoding/bytes.ts';

/** What key operations need of the other classes and of the process. */
export interface SubtleWorld {
  DOMException: new (message: string, name: string) => Error;
  /** Base64, or undefined when the process refuses. */
  compute(question: CryptoQuestion): string | undefined;
  /** That many random bytes, as characters. */
  random(bytes: number): string;
}

/** Each hash with its block, in bits, which is the default length of an HMAC key. */
const HASHES = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 } as const;
type HashName = keyof typeof HASHES;

/** What each kind of key may be used for. */
const USAGES = { HMAC: ['sign', 'verify'], 'AES-GCM': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'] } as const;
type KeyKind = keyof typeof USAGES;

/** Lengths of a tag that Web Cryptography allows for AES-GCM, in bits. */
const TAGS = [32, 64, 96, 104, 112, 120, 128];
const AES_KEYS = [128, 192, 256];

interface KeyAlgorithm {
  name: KeyKind;
  length: number;
  hash?: { name: HashName };
}

type Given = Readonly<Record<string, unknown>>;
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * `crypto.subtle` (Web Cryptography 14) for digests, HMAC and AES-GCM; anything else is a NotSupportedError. Keys stay
 * in the isolate, the arithmetic is the process's.
 */
export function createSubtle({ DOMException, compute, random }: SubtleWorld) {
  const permit = Symbol('permit');
  let bytesOf: (key: CryptoKey) => Bytes;

  class CryptoKey {
    readonly #bytes: Bytes;
    readonly #algorithm: KeyAlgorithm;
    readonly #extractable: boolean;
    readonly #usages: readonly string[];

    static {
      bytesOf = (key) => key.#bytes;
    }

    constructor(given?: symbol, bytes?: Bytes, algorithm?: KeyAlgorithm, extractable = false, usages: string[] = []) {
      if (given !== permit || bytes === undefined || algorithm === undefined)
        throw new TypeError('Illegal constructor');
      this.#bytes = bytes;
      this.#algorithm = algorithm;
      this.#extractable = extractable;
      this.#usages = usages;
    }

    get type(): string {
      return 'secret';
    }

    get extractable(): boolean {
      return this.#extractable;
    }

    get algorithm(): KeyAlgorithm {
      const { hash, ...rest } = this.#algorithm;
      return hash === undefined ? rest : { ...rest, hash: { ...hash } };
    }

    get usages(): string[] {
      return [...this.#usages];
    }

    get [Symbol.toStringTag](): string {
      return 'CryptoKey';
    }
  }

  function makeKey(bytes: Bytes, algorithm: KeyAlgorithm, extractable: unknown, usages: unknown): CryptoKey {
    const wanted = [...new Set([...(usages as Iterable<unknown>)].map(String))];
    const allowed: readonly string[] = USAGES[algorithm.name];
    if (wanted.length === 0 || wanted.some((usage) => !allowed.includes(usage))) {
      throw new DOMException(`A key for ${algorithm.name} cannot be used so`, 'SyntaxError');
    }
    return new CryptoKey(permit, bytes, algorithm, Boolean(extractable), wanted);
  }

  /** An algorithm by its name, in any case (Web Cryptography 18.4.4). */
  function named(given: unknown): Given & { name: string } {
    const options = typeof given === 'object' && given !== null ? (given as Given) : { name: given };
    const { name } = options;
    if (name === undefined) throw new TypeError('The algorithm has no name');
    return { ...options, name: text(name).toUpperCase() };
  }

  function hashNamed(given: unknown): HashName {
    const { name } = named(given);
    if (!Object.hasOwn(HASHES, name)) throw unsupported(name);
    return name as HashName;
  }

  function unsupported(name: string): Error {
    return new DOMException(`The algorithm ${name} is not available here`, 'NotSupportedError');
  }

  function bufferSource(given: unknown): Bytes {
    const bytes = copyOfBytes(given);
    if (bytes === undefined) throw new TypeError('The data is neither a buffer nor a view of one');
    return bytes;
  }

  function computed(question: CryptoQuestion): Bytes {
    const answer = compute(question);
    if (answer === undefined) {
      throw new DOMException('The operation failed for an operation-specific reason', 'OperationError');
    }
    return bytesFromBase64(answer) as Bytes;
  }

  function usable(key: unknown, kind: string, usage: string): CryptoKey {
    if (!(key instanceof CryptoKey)) throw new TypeError('The key is not a CryptoKey');
    if (key.algorithm.name !== kind || !key.usages.includes(usage)) {
      throw new DOMException(`The key is not for this: ${kind}, ${usage}`, 'InvalidAccessError');
    }
    return key;
  }

  function hmac(key: CryptoKey, data: Bytes): Bytes {
    const hash = key.algorithm.hash?.name ?? 'SHA-256';
    return computed({ op: 'hmac', hash, key: base64Of(bytesOf(key)), data: base64Of(data) });
  }

  function gcm(op: 'encrypt' | 'decrypt', algorithm: unknown, key: unknown, data: unknown): Bytes {
    const { name, iv, additionalData, tagLength = 128 } = named(algorithm);
    if (name !== 'AES-GCM') throw unsupported(name);
    const bytes = bufferSource(data);
    const question = {
      op,
      key: base64Of(bytesOf(usable(key, name, op))),
      iv: base64Of(bufferSource(iv)),
      aad: base64Of(additionalData === undefined ? new Uint8Array() : bufferSource(additionalData)),
      tag: Number(tagLength),
      data: base64Of(bytes),
    };
    if (!TAGS.includes(question.tag)) throw new DOMException('The tag has no valid length', 'OperationError');
    return computed(question);
  }

  function algorithmOf(given: unknown, bytes: number): KeyAlgorithm {
    const { name, hash, length } = named(given);
    if (name === 'HMAC') {
      const bits = length === undefined ? bytes * 8 : Number(length);
      // Only whole bytes: bits that are cut off have no use.
      if (bytes === 0 || bits !== bytes * 8) throw new DOMException('The key has no valid length', 'DataError');
      return { name, length: bits, hash: { name: hashNamed(hash) } };
    }
    if (name !== 'AES-GCM') throw unsupported(name);
    if (!AES_KEYS.includes(bytes * 8)) throw new DOMException('The key has no valid length', 'DataError');
    return { name, length: bytes * 8 };
  }

  class SubtleCrypto {
    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
    }

    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      const hash = hashNamed(algorithm);
      return computed({ op: 'digest', hash, data: base64Of(bufferSource(data)) }).buffer;
    }

    async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      const { name } = named(algorithm);
      if (name !== 'HMAC') throw unsupported(name);
      return hmac(usable(key, name, 'sign'), bufferSource(data)).buffer;
    }

    async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
      const { name } = named(algorithm);
      if (name !== 'HMAC') throw unsupported(name);
      const given = bufferSource(signature);
      return isEqual(hmac(usable(key, name, 'verify'), bufferSource(data)), given);
    }

    async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      return gcm('encrypt', algorithm, key, data).buffer;
    }

    async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      return gcm('decrypt', algorithm, key, data).buffer;
    }

    async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey> {
      const { name, length, hash } = named(algorithm);
      if (!Object.hasOwn(USAGES, name)) throw unsupported(name);
      const bits = length === undefined && name === 'HMAC' ? HASHES[hashNamed(hash)] : Number(length);
      const isValid = name === 'HMAC' ? bits > 0 && bits <= 65_536 && bits % 8 === 0 : AES_KEYS.includes(bits);
      if (!isValid) throw new DOMException('The key has no valid length', 'OperationError');
      const bytes = Uint8Array.from(random(bits / 8), (character) => character.charCodeAt(0));
      return makeKey(bytes, algorithmOf({ name, hash }, bytes.length), extractable, usages);
    }

    async importKey(
      format: unknown,
      data: unknown,
      algorithm: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<CryptoKey> {
      const bytes = format === 'raw' ? bufferSource(data) : format === 'jwk' ? jwkBytes(data) : undefined;
      if (bytes === undefined)
        throw new DOMException(`Keys are not read as ${String(format)} here`, 'NotSupportedError');
      return makeKey(bytes, algorithmOf(algorithm, bytes.length), extractable, usages);
    }

    async exportKey(format: unknown, key: unknown): Promise<unknown> {
      if (!(key instanceof CryptoKey)) throw new TypeError('The key is not a CryptoKey');
      if (!key.extractable) throw new DOMException('The key is not extractable', 'InvalidAccessError');
      const bytes = bytesOf(key);
      if (format === 'raw') return bytes.slice().buffer;
      if (format !== 'jwk')
        throw new DOMException(`Keys are not written as ${String(format)} here`, 'NotSupportedError');
      const { name, length, hash } = key.algorithm;
      const alg = name === 'HMAC' ? `HS${hash?.name.slice(4) ?? ''}` : `A${length}GCM`;
      return { kty: 'oct', k: urlSafe(base64Of(bytes)), alg, key_ops: key.usages, ext: true };
    }

    get [Symbol.toStringTag](): string {
      return 'SubtleCrypto';
    }
  }

  function jwkBytes(given: unknown): Bytes {
    const { kty, k } = (typeof given === 'object' && given !== null ? given : {}) as Given;
    if (kty !== 'oct' || typeof k !== 'string' || !/^[\w-]*$/.test(k)) {
      throw new DOMException('The key is no JWK of type oct', 'DataError');
    }
    return bytesFromBase64(k.replaceAll('-', '+').replaceAll('_', '/')) as Bytes;
  }

  return { CryptoKey, SubtleCrypto, subtle: new SubtleCrypto(permit) };
}

function text(value: unknown): string {
  return String(value);
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Takes as long for any two values of one length. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
