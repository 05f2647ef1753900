import type { KeyKind } from '../../node/crypto/crypto-question.ts';
import { conform } from '../web-idl.ts';

export type KeyType = 'secret' | KeyKind;

/** What an algorithm says of its key (Web Cryptography 11.4, 12 and behind). */
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
  /** The key itself, its PKCS #8 or its SPKI; base64. */
  readonly material: string;
}

/** Only who has it makes keys. */
const permit = Symbol('permit');
const PARTS = new WeakMap<object, KeyParts>();

/** A key of Web Cryptography 13: what it may be used for is fixed, and it shows its material only if it may. */
export class CryptoKey {
  readonly #type: KeyType;
  readonly #extractable: boolean;
  readonly #algorithm: KeyAlgorithm;
  readonly #usages: readonly string[];

  constructor(given?: symbol, parts?: KeyParts) {
    if (given !== permit || parts === undefined) throw new TypeError('Illegal constructor');
    this.#type = parts.type;
    this.#extractable = parts.extractable;
    // What a plugin does to these changes what it is shown, and nothing else.
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

/** What a key is made of; undefined for anything else. */
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
