import type { Json } from '../../domain/json/json.ts';
import { MIN_URL_KEY_LENGTH } from '../../domain/mask-url.ts';
import type { RpcUrl } from '../../features/relayers/records/relayer.ts';
import { basicCredentials, unescaped } from '../http-client.ts';

/** One RPC endpoint, with the parts of it that a message may show. */
export interface Endpoint {
  readonly url: URL;
  readonly weight: number;
  /** Scheme, host and port. A message may name nothing else, because path and query often hold a key. */
  readonly name: string;
  /** Masks the endpoint's path, query and credentials in a foreign text. */
  scrub(text: string): string;
  /** Masks them in all texts of a value, at full length. Call data in hexadecimal stays unchanged. */
  scrubData(data: Json): Json;
}

const MAX_MESSAGE = 1_000;
const HEXADECIMAL = /^0x[0-9a-f]*$/i;

/** @throws TypeError when the address is not a URL */
export function createEndpoint({ url: address, weight }: RpcUrl): Endpoint {
  const url = new URL(address);
  const pieces = [...url.pathname.split('/'), ...url.searchParams.values(), url.search, url.pathname];
  const secrets = [...pieces.filter((piece) => piece.length >= MIN_URL_KEY_LENGTH), url.username, url.password]
    .flatMap((secret) => [secret, unescaped(secret)])
    // A gateway may repeat the authorization header.
    .concat(basicCredentials(url) ?? [])
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  const masked = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return {
    url,
    weight,
    name: `${url.protocol}//${url.host}`,
    scrub: (text) => masked(text).slice(0, MAX_MESSAGE),
    scrubData: (data) => mapTexts(data, (text) => (HEXADECIMAL.test(text) ? text : masked(text))),
  };
}

function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
