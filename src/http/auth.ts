import { hash, timingSafeEqual } from 'node:crypto';

/** Names the API key a request carries, or undefined when it carries none that is accepted. */
export type Authenticator = (rawHeaders: readonly string[]) => string | undefined;

const SCHEME = 'Bearer ';

/**
 * Accepts exactly one `Authorization` header, `Bearer ` and the key. Both sides are hashed first, so that neither
 * content nor length of the key can be told from the time the comparison takes.
 */
export function createAuthenticator(apiKey: { id: string; key: string }): Authenticator {
  const expected = digest(apiKey.key);
  return (rawHeaders) => {
    const [value, ...others] = authorizationsOf(rawHeaders);
    if (value === undefined || others.length > 0 || !value.startsWith(SCHEME)) return undefined;
    return timingSafeEqual(digest(value.slice(SCHEME.length)), expected) ? apiKey.id : undefined;
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

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
