import { isObject, type Json, type JsonObject } from '../domain/json/json.ts';
import { createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpAnswer, type HttpClient } from './http-client.ts';
import { HttpFailure } from './http-failure.ts';
import { isHttpSuccess } from './rpc/json-rpc-answer.ts';

/**
 * A market of tokens that speaks JSON over HTTP. It tells what tokens cost, and who trades them. The operator chooses
 * it.
 */
export interface MarketClient {
  /** @throws MarketFailure */
  get(path: string, query: Readonly<Record<string, string>>): Promise<Json>;
  /** @throws MarketFailure */
  post(path: string, body: JsonObject): Promise<Json>;
}

/** The market gave no answer, or a refusal. The message never holds the address or the key. */
export class MarketFailure extends Error {
  /** What the market calls its refusal, where it says so. */
  readonly code: string | undefined;

  constructor(message: string, { code, cause }: { code?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'MarketFailure';
    this.code = code;
  }
}

export interface MarketParts {
  /** The base URL. Paths are appended to it. */
  url: string;
  apiKey: string | undefined;
  /** The name of the variable that holds the key, for the error message. */
  keyName?: string;
  /** The header that takes the key; absent: `x-api-key`. */
  keyIn?: 'x-api-key' | 'authorization';
  http: Pick<HttpClient, 'get' | 'post'>;
  timeoutMs?: number;
}

/** How long to wait for an answer. A later price is not worth waiting for. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const MAX_REASON = 200;

/** Opens connections to markets. The operator named each market, so its address may be private. */
export function createMarketHttp(): HttpClient {
  return createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
}

/** Creates the client of a market. */
export function createMarketClient({
  url,
  apiKey,
  keyName,
  keyIn,
  http,
  timeoutMs = TIMEOUT_MS,
}: MarketParts): MarketClient {
  const limits = { timeoutMs, maxBytes: MAX_BYTES };
  const key = apiKey === undefined ? {} : keyed(apiKey, keyIn);
  const missing = apiKey === undefined ? keyName : undefined;
  const base = url.replace(/\/+$/, '');

  return {
    get: (path, query) =>
      read(
        http.get(new URL(`${base}${path}?${new URLSearchParams(query).toString()}`), { headers: key, ...limits }),
        missing,
      ),
    post: (path, body) =>
      read(
        http.post(new URL(`${base}${path}`), {
          headers: { 'content-type': 'application/json', ...key },
          body: JSON.stringify(body),
          ...limits,
        }),
        missing,
      ),
  };
}

function keyed(apiKey: string, keyIn: MarketParts['keyIn']): Record<string, string> {
  return keyIn === 'authorization' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
}

async function read(answering: Promise<HttpAnswer>, missingKey: string | undefined): Promise<Json> {
  const { status, redirect, body } = await answering.catch((error: unknown) => {
    throw error instanceof HttpFailure ? new MarketFailure(error.message, { cause: error }) : error;
  });
  const answer = parsed(body);
  if (!isHttpSuccess(status)) throw refusal({ status, redirect }, answer, missingKey);
  if (answer === undefined) throw new MarketFailure('its answer is not JSON');
  return answer;
}

/** Undefined for what is not JSON. */
function parsed(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

/** The statuses with which markets refuse a call without a key. */
const KEYLESS = new Set([401, 403]);

/** The error for a refusal. The market's own text is cut short: a page of a gateway is no reason. */
function refusal(
  { status, redirect }: Pick<HttpAnswer, 'status' | 'redirect'>,
  answer: Json | undefined,
  missingKey: string | undefined,
): MarketFailure {
  const { error, message, errorCode } = isObject(answer) ? answer : {};
  const found = [error, message].find((text) => typeof text === 'string' && text !== '');
  const reason = typeof found === 'string' ? `: ${found.slice(0, MAX_REASON)}` : '';
  const advice = missingKey !== undefined && KEYLESS.has(status) ? `; it asks for a key: set ${missingKey}` : '';
  return new MarketFailure(`it answered with status ${status}${redirect}${reason}${advice}`, {
    code: typeof errorCode === 'string' ? errorCode : undefined,
  });
}
