import { checkObject, checkString, invalidArgType, nodeError } from './node-error.ts';

/** The path that a `file:` URL names (https://nodejs.org/api/url.html#urlfileurltopathurl-options). */
export function fileURLToPath(given: unknown): string {
  const url = typeof given === 'string' ? new URL(given) : given;
  if (!(url instanceof URL)) throw invalidArgType('path', 'of type string or an instance of URL', given);
  if (url.protocol !== 'file:') throw nodeError('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file', TypeError);
  if (url.hostname !== '') {
    throw nodeError('ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux', TypeError);
  }
  if (/%2f/i.test(url.pathname)) {
    throw nodeError('ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters', TypeError);
  }
  return decodeURIComponent(url.pathname);
}

/** Characters of a path that mean something else in a URL. */
const SPECIAL = /[%\\\n\r\t?#]/g;

export function pathToFileURL(path: unknown, resolve: (path: unknown) => string): URL {
  checkString(path, 'path');
  const isFolder = path.endsWith('/');
  const whole = resolve(path);
  const text = isFolder && !whole.endsWith('/') ? `${whole}/` : whole;
  return new URL(`file://${text.replace(SPECIAL, (sign) => encodeURIComponent(sign))}`);
}

/** The options that `http.request` takes for a URL. */
export function urlToHttpOptions(given: unknown): Record<string, unknown> {
  checkObject(given, 'url');
  const url = given as unknown as URL;
  const { protocol, hostname, hash, search, pathname, href, port, username, password } = url;
  const own: Record<string, unknown> = {
    ...given,
    protocol,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    hash,
    search,
    pathname,
    path: `${pathname || ''}${search || ''}`,
    href,
  };
  if (port !== '') own['port'] = Number(port);
  if (username !== '' || password !== '')
    own['auth'] = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return Object.assign({ __proto__: null }, own);
}

/** A host's name in ASCII, as in the URL standard; empty if it is no valid name. */
export function domainToASCII(domain: unknown): string {
  return URL.parse(`ws://${String(domain)}`)?.hostname ?? '';
}
