import { FetchFailure } from './plugin-fetch.ts';

type Pair = readonly [name: string, value: string];

/** The most header lines of one request, and the most bytes of all names and values. */
const MAX_HEADERS = 100;
const MAX_BYTES = 16_384;

/** A token of RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** What a field value may hold (RFC 9110, section 5.5): no control character but the tab, and bytes only. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that belong to the connection, or that only the service sets (RFC 9110, 7.6.1; Fetch Standard 2.2.2). */
const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

/** Whether a request header belongs to the connection, so that a plugin must not set it. */
function isOurs(name: string): boolean {
  return OURS.has(name) || name.startsWith('proxy-');
}

/**
 * The headers of a plugin's request as they are sent, with lower-case names and the defaults that it did not set.
 * @throws FetchFailure `invalid`
 */
export function fetchRequestHeaders(given: readonly Pair[]): Pair[] {
  if (given.length > MAX_HEADERS) throw invalid(`a request may have at most ${MAX_HEADERS} headers`);
  let bytes = 0;
  const headers = given.map(([rawName, value]): Pair => {
    const name = rawName.toLowerCase();
    bytes += name.length + value.length;
    if (!NAME.test(name)) throw invalid('a header has an invalid name');
    if (!VALUE.test(value)) throw invalid(`the header ${name} has an invalid value`);
    if (isOurs(name)) throw invalid(`the header ${name} belongs to the connection`);
    return [name, value];
  });
  if (bytes > MAX_BYTES) throw invalid(`the headers of a request may take at most ${MAX_BYTES} bytes`);
  const has = (wanted: string) => headers.some(([name]) => name === wanted);
  if (!has('user-agent')) headers.push(['user-agent', 'isolayer-plugin']);
  if (!has('accept')) headers.push(['accept', '*/*']);
  // Part of a compressed body cannot be inflated.
  if (!has('accept-encoding')) headers.push(['accept-encoding', has('range') ? 'identity' : 'gzip, deflate, br']);
  return headers;
}

/** The headers of an answer, one pair for each line. */
export function answerHeaders(raw: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(raw).flatMap(([name, value]) =>
    value === undefined
      ? []
      : typeof value === 'string'
        ? [[name.toLowerCase(), value] as [string, string]]
        : value.map((line): [string, string] => [name.toLowerCase(), line]),
  );
}

function invalid(message: string): FetchFailure {
  return new FetchFailure('invalid', message, { unsent: true });
}
