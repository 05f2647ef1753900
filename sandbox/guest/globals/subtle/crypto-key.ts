import type { KeyKind } from '../../node/crypto/crypto-question.ts';
import { conform } from '../web-idl.ts';

export type KeyType = 'secret' | KeyKind;

/** The `algorithm` of a key (Web Cryptography 11.4, 12 and following). */
export interface KeyAlgorithm {
  name: string;
  length?: number;
  hash?: { name: string };
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
}

/** What a key is made of. */
export interface KeyParts {
  readonly type: KeyType;
  readonly extractable: boolean;
  readonly algorithm: KeyAlgorithm;
  readonly usages: readonly string[];
  /** A secret key's bytes, a private key's PKCS #8 or a public key's SPKI, in base64. */
  readonly material: string;
}

/** Only code that has this symbol makes keys. */
const permit = Symbol('permit');
const PARTS = new WeakMap<object, KeyParts>();

/** A key of Web Cryptography 13. Its usages are fixed, and only an extractable key shows its material. */
export class CryptoKey {
  readonly #type: KeyType;
  readonly #extractable: boolean;
  readonly #algorithm: KeyAlgorithm;
  readonly #usages: readonly string[];

  constructor(given?: symbol, parts?: KeyParts) {
    if (given !== permit || parts === undefined) throw new TypeError('Illegal constructor');
    this.#type = parts.type;
    this.#extractable = parts.extractable;
    // These are copies: a plugin that changes them changes only what it is shown.
    this.#algorithm = copyOf(parts.algorithm);
    this.#usages = [...parts.usages];
    PARTS.set(this, parts);
  }

  get type(): KeyType {
    return this.#type;
  }

  get extractable(): boolean {
    return this.#extractable;
  }

  get algorithm(): KeyAlgorithm {
    return this.#algorithm;
  }

  get usages(): readonly string[] {
    return this.#usages;
  }
}

conform(CryptoKey);

export function makeKey(parts: KeyParts): CryptoKey {
  return new CryptoKey(permit, parts);
}

/** The parts of a key; undefined for any other value. */
export function partsOf(key: unknown): KeyParts | undefined {
  return typeof key === 'object' && key !== null ? PARTS.get(key) : undefined;
}

function copyOf({ hash, publicExponent, ...rest }: KeyAlgorithm): KeyAlgorithm {
  return {
    ...rest,
    ...(publicExponent === undefined ? {} : { publicExponent: publicExponent.slice() }),
    ...(hash === undefined ? {} : { hash: { ...hash } }),
  };
}
