import { copyOfBytes } from '../encoding/bytes.ts';
import type { KeyParts } from './crypto-key.ts';
import { partsOf } from './crypto-key.ts';

export type Given = Readonly<Record<string, unknown>>;
export type Bytes = Uint8Array<ArrayBuffer>;

export type ErrorName =
  | 'NotSupportedError'
  | 'SyntaxError'
  | 'InvalidAccessError'
  | 'DataError'
  | 'OperationError'
  | 'QuotaExceededError';

/** Makes the errors of Web Cryptography 14. */
export type Fail = (name: ErrorName, message: string) => Error;

/** Each hash with its block, in bits. */
export const HASHES = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 } as const;
export type HashName = keyof typeof HASHES;

const MAX_LONG = 2 ** 32 - 1;

/** Reads the dictionaries of algorithms as Web IDL does. */
export function createParameters(fail: Fail) {
  function bytesIn(given: unknown, what: string): Bytes {
    const bytes = copyOfBytes(given);
    if (bytes === undefined) throw new TypeError(`${what} is neither a buffer nor a view of one`);
    return bytes;
  }

  function present(given: Given, name: string): unknown {
    const value = given[name];
    if (value === undefined) throw new TypeError(`The algorithm has no ${name}`);
    return value;
  }

  function whole(value: unknown, name: string, most = MAX_LONG): number {
    const number = Math.trunc(Number(value));
    if (!(number >= 0 && number <= most)) throw new TypeError(`${name} must be from 0 to ${most}`);
    return number;
  }

  /** An algorithm's parameters with its name. The name may be written in any case. */
  function named(given: unknown): Given & { name: string } {
    const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function';
    const options = isObject ? (given as Given) : { name: given };
    const { name } = options;
    if (name === undefined) throw new TypeError('The algorithm has no name');
    // Defines the name and does not assign it: the copy of a frozen algorithm would refuse the assignment.
    const own = { value: text(name), writable: true, enumerable: true, configurable: true };
    return Object.create(options, { name: own }) as Given & { name: string };
  }

  return {
    named,
    bytesIn,
    bytes: (given: Given, name: string) => bytesIn(present(given, name), name),
    optionalBytes: (given: Given, name: string) => (given[name] === undefined ? undefined : bytesIn(given[name], name)),
    whole: (given: Given, name: string, most?: number) => whole(present(given, name), name, most),
    optionalWhole: (given: Given, name: string, most?: number) =>
      given[name] === undefined ? undefined : whole(given[name], name, most),
    text: (given: Given, name: string) => text(present(given, name)),
    key(given: Given, name: string): KeyParts {
      const parts = partsOf(present(given, name));
      if (parts === undefined) throw new TypeError(`${name} is no CryptoKey`);
      return parts;
    },
    hash(given: Given, name = 'hash'): HashName {
      const hash = named(present(given, name)).name;
      const known = (Object.keys(HASHES) as HashName[]).find((one) => one === hash.toUpperCase());
      if (known === undefined) throw fail('NotSupportedError', `The hash ${hash} is not available here`);
      return known;
    },
  };
}

export type Parameters = ReturnType<typeof createParameters>;

export function text(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('A symbol is no text');
  return String(value);
}
