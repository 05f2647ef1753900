import type { Clock } from '../../domain/clock.ts';
import type { Json } from '../../domain/json/json.ts';
import { measureJson } from '../../domain/json/json-text.ts';
import type { HttpAnswer, HttpClient } from '../http-client.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import {
  type JsonRpcBatchResult,
  type JsonRpcCall,
  readJsonRpcAnswer,
  readJsonRpcBatch,
  retryAfterMs,
} from './json-rpc-answer.ts';
import { RpcError } from './rpc-client.ts';
import type { RpcDialect } from './rpc-verdict.ts';

/** Times in milliseconds. */
export interface RpcRequestLimits {
  /**
   * The limit of one request, from sending it to the last byte of its answer. Also that of the wait for room before it.
   */
  timeoutMs: number;
  maxAnswerBytes: number;
  /** The longest `Retry-After` that is heeded. */
  pauseMs: number;
}

/** What a request is made of. */
export interface RpcRequestParts {
  endpoint: Endpoint;
  http: HttpClient;
  clock: Clock;
  /** Hears when the endpoint asks to be left alone. */
  pool: Pick<EndpointPool, 'hold'>;
  settings: RpcRequestLimits;
  dialect: RpcDialect;
  nextId: () => number;
}

/** A call with its text, as it goes into a request. */
export interface RpcCallText {
  call: JsonRpcCall;
  text: string;
  bytes: number;
}

/** One HTTP request to one endpoint, with one call or a batch of them. Never retries. */
export interface RpcRequest {
  textOf(method: string, params: Json): RpcCallText;
  /** Never throws. Returns an entry for each of the calls, or says that they were not taken together. */
  send(texts: readonly RpcCallText[]): Promise<JsonRpcBatchResult>;
}

/**
 * The longest answer to several calls, which usually ask for little. A longer answer is refused, and its calls are sent
 * again in smaller batches, at last alone. A call that is alone has the limit of a single answer.
 */
const BATCH_ANSWER_BYTES = 4 * 1_048_576;

/** Longer answers are looked at before they are parsed. */
const LARGE_ANSWER_BYTES = 1_048_576;
/** The most values and levels in a large answer. No honest one has more. To build more would take seconds. */
const MAX_VALUES = 1_000_000;
const MAX_DEPTH = 4_096;

/** Opens nothing before the first call. */
export function createRpcRequest(parts: RpcRequestParts): RpcRequest {
  const { endpoint, http, clock, pool, settings, dialect, nextId } = parts;

  async function post(texts: readonly RpcCallText[]): Promise<HttpAnswer> {
    const body = texts.map(({ text }) => text).join();
    const response = await http.post(endpoint.url, {
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: texts.length === 1 ? body : `[${body}]`,
      timeoutMs: settings.timeoutMs,
      maxBytes: texts.length === 1 ? settings.maxAnswerBytes : Math.min(settings.maxAnswerBytes, BATCH_ANSWER_BYTES),
    });
    const wait = response.status === 429 ? retryAfterMs(response.headers['retry-after'], clock.now()) : undefined;
    if (wait !== undefined) pool.hold(endpoint, Math.min(wait, settings.pauseMs));
    return response;
  }

  /** Errors of other layers stay unchanged. */
  function failureOf(error: unknown): unknown {
    if (!(error instanceof HttpFailure)) return error;
    const kind = error.kind === 'too-large' ? 'malformed' : error.kind;
    return new RpcError(kind, `${endpoint.name}: ${error.message}`, { cause: error });
  }

  return {
    textOf(method, params) {
      const id = nextId();
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === null ? {} : { params }) });
      return { call: { endpoint, id, method }, text, bytes: Buffer.byteLength(text) };
    },

    async send(texts) {
      const calls = texts.map(({ call }) => call);
      const [first, ...others] = calls;
      if (first === undefined) return { kind: 'answers', answers: [] };
      try {
        const { status, redirect, body } = await post(texts);
        const response = { status, redirect, body: parsedBody(body) };
        if (others.length > 0) return readJsonRpcBatch([first, ...others], response, dialect);
        return { kind: 'answers', answers: [{ status: 'fulfilled', value: readJsonRpcAnswer(first, response) }] };
      } catch (error) {
        if (others.length > 0 && error instanceof HttpFailure && error.kind === 'too-large') {
          const failure = () => new RpcError('malformed', `${endpoint.name}: ${error.message}`);
          return { kind: 'refused', reason: 'size', isCertain: false, failure };
        }
        const reason = failureOf(error);
        return { kind: 'answers', answers: calls.map(() => ({ status: 'rejected', reason })) };
      }
    },
  };
}

function parsedBody(body: Buffer): Json | undefined {
  const text = body.toString('utf8');
  if (body.length > LARGE_ANSWER_BYTES) {
    const { values, depth } = measureJson(text, MAX_DEPTH, MAX_VALUES);
    if (values > MAX_VALUES || depth > MAX_DEPTH) return undefined;
  }
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
