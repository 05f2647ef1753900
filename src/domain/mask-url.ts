/** What stands for a hidden part. */
const HIDDEN = '***';

/** Pieces of a path or query that are shorter are words (`v3`, `hook`), not keys. */
export const SHORTEST_KEY = 8;

/**
 * An endpoint's address without what may be a key: its path, its query and, unlike in the reference, its user-info.
 * What is no address is hidden whole.
 */
export function maskUrl(url: string): string {
  const parts = partsOf(url);
  if (parts === undefined) return HIDDEN;
  const { scheme, host, path, rest } = parts;
  const tail = `${path}${rest}`;
  return `${scheme}://${host}${tail === '' || tail === '/' ? tail : `${tail.charAt(0)}${HIDDEN}`}`;
}

/**
 * The address of a webhook or a network's endpoint without what may be a key, but with the words of its path, by which
 * its owner knows it. Wherever something was hidden stands `***`.
 */
export function maskKeys(url: string): string {
  const parts = partsOf(url);
  if (parts === undefined) return HIDDEN;
  const { scheme, user, host, path, rest } = parts;
  const words = path.split('/').map((piece) => (piece.length < SHORTEST_KEY ? piece : HIDDEN));
  const query = rest === '' ? '' : `${rest.charAt(0)}${HIDDEN}`;
  return `${scheme}://${user === '' ? '' : `${HIDDEN}@`}${host}${words.join('/')}${query}`;
}

/** Whether an address was taken from an answer that hides a part of it. */
export function isMasked(url: string): boolean {
  return url.includes(HIDDEN);
}

function partsOf(url: string) {
  const [, scheme, rest] = /^([^:]*):\/\/(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return undefined;
  const [, authority = '', path = '', tail = ''] = /^([^/?#]*)([^?#]*)(.*)$/s.exec(rest) ?? [];
  const at = authority.lastIndexOf('@');
  return { scheme, user: authority.slice(0, Math.max(0, at)), host: authority.slice(at + 1), path, rest: tail };
}
