import { FetchFailure, type FetchRequest } from './plugin-fetch.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that describe a body. They are dropped together with it (Fetch Standard 2.2.2). */
const OF_THE_BODY = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
]);
/** Headers that were meant for the first host only. */
const CREDENTIALS = new Set(['authorization', 'cookie']);

/**
 * The request that follows an answer, by the rules of the Fetch Standard's HTTP-redirect fetch (4.4); undefined when
 * the answer is the last one.
 * @throws FetchFailure `redirect`
 */
export function redirected(
  request: FetchRequest,
  status: number,
  location: string | undefined,
): FetchRequest | undefined {
  if (!REDIRECTS.has(status) || location === undefined || request.redirect === 'manual') return undefined;
  if (request.redirect === 'error') throw failure(`${request.url.host} redirects, which the request forbids`);
  const url = URL.parse(location, request.url);
  if (url === null) throw failure(`${request.url.host} redirects to what is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw failure(`${request.url.host} redirects to ${url.protocol}, and only http and https are spoken`);
  }
  if (url.username !== '' || url.password !== '') throw failure(`${request.url.host} redirects with credentials`);

  const { method } = request;
  const turnsToGet =
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD');
  const isElsewhere = url.origin !== request.url.origin;
  const headers = request.headers.filter(
    ([name]) => !(turnsToGet && OF_THE_BODY.has(name)) && !(isElsewhere && CREDENTIALS.has(name)),
  );
  return { ...request, url, headers, ...(turnsToGet && { method: 'GET', body: undefined }) };
}

function failure(message: string): FetchFailure {
  return new FetchFailure('redirect', message);
}
