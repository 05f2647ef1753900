import { hash, timingSafeEqual } from 'node:crypto';
import { type Access, FULL_ACCESS } from '../../domain/settings/access.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';

/** Whose key a request carries. */
export interface Identity {
  readonly id: string;
  readonly access: Access;
  /** Of its own; undefined: that of the service. */
  readonly rate?: KeyRate | undefined;
  readonly allowedOrigins?: readonly string[];
}

/** A key that a client made, as far as a request has to know it. */
export interface ClientKey extends Omit<Identity, 'rate'> {
  readonly rate: KeyRate | null;
  readonly allowedOrigins: readonly string[];
  /** In milliseconds since the epoch. */
  readonly expiresAt: number | null;
}

/** The keys that are accepted. */
export interface AcceptedKeys {
  /** That of the environment. */
  master: { id: string; key: string };
  /** Those that clients made, by the SHA-256 of the key in hexadecimal. */
  withHash(hash: string): ClientKey | undefined;
  /** Calls back when one of them may have changed; returns the way to stop that. */
  onChange(listener: () => void): () => void;
}

/** Says whose API key a request carries, or undefined when it carries none that is accepted. */
export type Authenticator = (rawHeaders: readonly string[]) => Identity | undefined;

const SCHEME = 'Bearer ';

/**
 * Accepts exactly one `Authorization` header, `Bearer ` and a key. Only hashes are compared and looked up, so that
 * neither content nor length of a key can be told from the time that takes.
 */
export function createAuthenticator(
  { master, withHash }: Pick<AcceptedKeys, 'master' | 'withHash'>,
  now: () => number,
): Authenticator {
  const expected = hash('sha256', master.key, 'buffer');
  const identity: Identity = { id: master.id, access: FULL_ACCESS };
  return (rawHeaders) => {
    const [value, ...others] = authorizationsOf(rawHeaders);
    if (value === undefined || others.length > 0 || !value.startsWith(SCHEME)) return undefined;
    const digest = hash('sha256', value.slice(SCHEME.length), 'buffer');
    if (timingSafeEqual(digest, expected)) return identity;
    const key = withHash(digest.toString('hex'));
    if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now())) return undefined;
    const { id, access, rate, allowedOrigins } = key;
    return { id, access, rate: rate ?? undefined, allowedOrigins };
  };
}

/** From the raw headers, because Node keeps only the first of several `Authorization` headers. */
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
