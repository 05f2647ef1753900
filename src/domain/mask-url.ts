/** What stands for a hidden part. */
const HIDDEN = '***';

/** Shorter pieces of a path or query are words (`v3`, `hook`), not keys. */
export const MIN_URL_KEY_LENGTH = 8;

/**
 * An endpoint's address without the parts that may be a key: path, query and, unlike in the reference, user-info. A
 * text that is not an address is hidden whole.
 */
export function maskUrl(url: string): string {
  const parts = partsOf(url);
  if (parts === undefined) return HIDDEN;
  const { scheme, host, path, rest } = parts;
  const tail = `${path}${rest}`;
  return `${scheme}://${host}${tail === '' || tail === '/' ? tail : `${tail.charAt(0)}${HIDDEN}`}`;
}

/**
 * The address of a webhook or of a network's endpoint, without the parts that may be a key. It keeps the words of the
 * path, by which its owner knows the address. `***` stands for each hidden part.
 */
export function maskKeys(url: string): string {
  const parts = partsOf(url);
  if (parts === undefined) return HIDDEN;
  const { scheme, user, host, path, rest } = parts;
  const words = path.split('/').map((piece) => (piece.length < MIN_URL_KEY_LENGTH ? piece : HIDDEN));
  const query = rest === '' ? '' : `${rest.charAt(0)}${HIDDEN}`;
  return `${scheme}://${user === '' ? '' : `${HIDDEN}@`}${host}${words.join('/')}${query}`;
}

/** Whether an address was taken from an answer that hides a part of it. */
export function isMaskedUrl(url: string): boolean {
  return url.includes(HIDDEN);
}

function partsOf(url: string) {
  const [, scheme, rest] = /^([^:]*):\/\/(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return undefined;
  const [, authority = '', path = '', tail = ''] = /^([^/?#]*)([^?#]*)(.*)$/s.exec(rest) ?? [];
  const at = authority.lastIndexOf('@');
  return { scheme, user: authority.slice(0, Math.max(0, at)), host: authority.slice(at + 1), path, rest: tail };
}
