import { hash, timingSafeEqual } from 'node:crypto';
import { type Access, FULL_ACCESS } from '../../features/api-keys/records/access.ts';
import type { KeyRate, RateShare } from '../../features/api-keys/records/api-key.ts';

/** The API key of a request. */
export interface Identity {
  readonly id: string;
  readonly access: Access;
  /** The key's own rate limit; undefined: the service's rate limit. */
  readonly rate?: KeyRate | undefined;
  /** The rates of the keys that made this one; absent: none. */
  readonly sharedRates?: readonly RateShare[];
  readonly allowedOrigins?: readonly string[];
}

/** A key made through the API, with the fields that a request needs. */
export interface AuthenticatedKey extends Omit<Identity, 'rate'> {
  readonly rate: KeyRate | null;
  readonly allowedOrigins: readonly string[];
  /** In milliseconds since the epoch. */
  readonly expiresAt: number | null;
}

export interface AcceptedKeys {
  /** The key from the environment. */
  master: { id: string; key: string };
  /** Finds a key made through the API by the SHA-256 of the key in hexadecimal. */
  withHash(hash: string): AuthenticatedKey | undefined;
  /** Calls the listener when a key may have changed. Returns a function that stops this. */
  onChange(listener: () => void): () => void;
}

/** Finds the API key of a request; undefined when the request has no accepted key. */
export type Authenticator = (rawHeaders: readonly string[]) => Identity | undefined;

const SCHEME = 'Bearer ';

/**
 * Accepts exactly one `Authorization` header: `Bearer ` and a key. The time that this takes reveals neither the content
 * nor the length of a key.
 */
export function createAuthenticator(
  { master, withHash }: Pick<AcceptedKeys, 'master' | 'withHash'>,
  now: () => number,
): Authenticator {
  const isMaster = equalsSecret(master.key);
  const identity: Identity = { id: master.id, access: FULL_ACCESS };
  return (rawHeaders) => {
    const [value, ...others] = authorizationsOf(rawHeaders);
    if (value === undefined || others.length > 0 || !value.startsWith(SCHEME)) return undefined;
    const given = value.slice(SCHEME.length);
    if (isMaster(given)) return identity;
    const key = withHash(hash('sha256', given, 'hex'));
    if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now())) return undefined;
    const { id, access, rate, sharedRates = [], allowedOrigins } = key;
    return { id, access, rate: rate ?? undefined, sharedRates, allowedOrigins };
  };
}

/** The least length at which texts are compared, in bytes. Shorter ones are padded. */
const PADDED_BYTES = 256;

/** Returns a function that compares texts with a secret. It takes a fifth of the time of hashing them. */
function equalsSecret(secret: string): (text: string) => boolean {
  const expected = Buffer.alloc(Math.max(PADDED_BYTES, Buffer.byteLength(secret)));
  expected.write(secret);
  const given = Buffer.alloc(expected.length);
  return (text) => {
    given.fill(0);
    given.write(text);
    // `write` cuts off what is longer.
    return timingSafeEqual(given, expected) && text.length === secret.length;
  };
}

/** Reads the raw headers, because Node keeps only the first of several `Authorization` headers. */
function authorizationsOf(rawHeaders: readonly string[]): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 'authorization'.length && name.toLowerCase() === 'authorization') {
      values.push(rawHeaders[at + 1] ?? '');
    }
  }
  return values;
}
