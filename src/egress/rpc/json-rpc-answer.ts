import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import type { Endpoint } from './endpoint.ts';
import { RpcError } from './rpc-client.ts';
import { judgeRpcFailure, type RpcDialect } from './rpc-verdict.ts';

/** The outcome of a batch. */
export type JsonRpcBatchResult =
  /** One entry for each call, in the order of the calls. */
  | { kind: 'answers'; answers: PromiseSettledResult<Json>[] }
  /** The endpoint did not take it as a batch. */
  | {
      kind: 'refused';
      /** What was refused: too many calls, any batch, or only this mixture of methods. */
      reason: 'size' | 'batch' | 'mixture';
      /** Whether it is certain that none of its calls has run. */
      isCertain: boolean;
      /** The error for each call that is not sent again. */
      failure: (call: JsonRpcCall) => RpcError;
    };

/**
 * The words with which providers refuse a batch: erigon "batch limit 100 exceeded", geth "batch too large", besu
 * "Number of requests in batch exceeds", alchemy "Unsupported methods [...] in batch call".
 */
const OF_BATCHES = /\bbatch/i;

const OF_SIZE = /too (large|big|many|long)|limit|exceed|max|more than|larger|up to/i;

const OF_METHODS = /unsupported methods?\b/i;

/** Codes with which JSON-RPC 2.0 refuses a request that could not be read, so that nothing of it ran. */
const UNREAD = new Set([-32_700, -32_600]);

const NOT_TAKEN = new Set([400, 405, 413, 415, 422, 501]);

/**
 * Matches the answer to a batch with its calls by their ids, in any order (JSON-RPC 2.0 section 6). A missing, doubled
 * or foreign answer costs only the call that it belongs to.
 */
export function readJsonRpcBatch(
  calls: readonly [JsonRpcCall, ...JsonRpcCall[]],
  answered: ReadBody,
  dialect: RpcDialect,
): JsonRpcBatchResult {
  const { status, body } = answered;
  const whole = Array.isArray(body) ? errorOfAll(calls, body) : body;
  if (isObject(whole) && isObject(whole['error'])) {
    const error = errorOf(calls[0].endpoint, whole, status);
    if (error !== undefined) return judgeWhole(calls, error, dialect);
  }
  if (Array.isArray(body)) return { kind: 'answers', answers: match(calls, body, status) };
  if (NOT_TAKEN.has(status)) {
    return refused(status === 413 ? 'size' : 'batch', true, ({ endpoint }) => httpError(endpoint, answered));
  }
  if (status === 500) return refused('batch', false, ({ endpoint }) => httpError(endpoint, answered));
  if (!isHttpSuccess(status)) return allFail(calls, ({ endpoint }) => httpError(endpoint, answered));
  if (isObject(body)) return refused('batch', false, (call) => malformed(call, 'a batch got a single answer'));
  return allFail(calls, (call) => malformed(call, 'the body is not a JSON array'));
}

/** Whether a node's error for one call is about its batch, so that the call may succeed alone. */
export function isBatchError(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.kind !== 'node') return false;
  // geth counts the answers of a batch together (rpc/errors.go, errMsgResponseTooLarge).
  return OF_BATCHES.test(error.message) || /^response too large$/i.test(error.message);
}

/**
 * The one error that stands for all calls. An array may hold it, because the protocol has no other way to say it (geth,
 * erigon).
 */
function errorOfAll(calls: readonly JsonRpcCall[], entries: readonly Json[]): Json | undefined {
  const [first] = entries;
  if (first === undefined || !entries.every(isNamelessError)) {
    const error = entries.length === 1 && calls.length > 1 && isObject(first) ? first['error'] : undefined;
    const message = isObject(error) ? error['message'] : undefined;
    return typeof message === 'string' && OF_BATCHES.test(message) ? first : undefined;
  }
  return first;
}

function isNamelessError(entry: Json): boolean {
  return isObject(entry) && isObject(entry['error']) && (entry['id'] === null || entry['id'] === undefined);
}

/** Judges one error for a whole batch. It does not mean that any single call failed for this reason. */
function judgeWhole(calls: readonly JsonRpcCall[], error: RpcError, dialect: RpcDialect): JsonRpcBatchResult {
  const { code = 0, message, status = 200 } = error;
  const failure = (call: JsonRpcCall) => malformed(call, `a batch got one error: ${message} (code ${code})`);
  if (OF_BATCHES.test(message)) {
    if (OF_METHODS.test(message)) return refused('mixture', true, failure);
    return refused(OF_SIZE.test(message) ? 'size' : 'batch', true, failure);
  }
  if (status === 413) return refused('size', true, failure);
  const { meaning, overload, countsAgainst, retry } = judgeRpcFailure(error, dialect);
  const isTurnedAway = overload || (meaning === 'endpoint' && countsAgainst && retry === 'elsewhere');
  if (isTurnedAway || status > 500) return allFail(calls, () => error);
  if (status === 500) return refused('batch', false, failure);
  // Infura answers with the error of one call when any call of the batch fails; the others may have run.
  return UNREAD.has(code) ? refused('batch', true, failure) : refused('mixture', false, failure);
}

function match(calls: readonly JsonRpcCall[], entries: readonly Json[], status: number): PromiseSettledResult<Json>[] {
  const byId = new Map<number, JsonObject | 'doubled'>();
  for (const entry of entries) {
    if (!isObject(entry) || typeof entry['id'] !== 'number') continue;
    byId.set(entry['id'], byId.has(entry['id']) ? 'doubled' : entry);
  }
  return calls.map((call) => settle(() => answerTo(call, byId.get(call.id), status)));
}

function answerTo(call: JsonRpcCall, entry: JsonObject | 'doubled' | undefined, status: number): Json {
  if (entry === undefined) throw malformed(call, 'the batch has no answer to it');
  if (entry === 'doubled') throw malformed(call, 'the batch has two answers to it');
  const failure = nodeError(call, entry, status);
  if (failure !== undefined) throw failure;
  return resultOf(call, entry);
}

function settle(read: () => Json): PromiseSettledResult<Json> {
  try {
    return { status: 'fulfilled', value: read() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}

function allFail(calls: readonly JsonRpcCall[], failure: (call: JsonRpcCall) => RpcError): JsonRpcBatchResult {
  return { kind: 'answers', answers: calls.map((call) => ({ status: 'rejected', reason: failure(call) })) };
}

function refused(
  reason: 'size' | 'batch' | 'mixture',
  isCertain: boolean,
  failure: (call: JsonRpcCall) => RpcError,
): JsonRpcBatchResult {
  return { kind: 'refused', reason, isCertain, failure };
}

/** The answer to a request. The body is undefined if it is not JSON, for instance because it was cut off. */
export interface ReadBody {
  readonly status: number;
  /** See {@link import('../http-client.ts').HttpAnswer}; absent means none. */
  readonly redirect?: string;
  readonly body: Json | undefined;
}

/** One call as it was sent. Its answer is checked against it. */
export interface JsonRpcCall {
  readonly endpoint: Endpoint;
  readonly id: number;
  readonly method: string;
}

const errorSchema = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

/**
 * Takes the result out of an HTTP answer, by JSON-RPC 2.0 section 5.
 * @throws RpcError `node` when the node answered with an error, whatever the HTTP status; `http`; `malformed`
 */
export function readJsonRpcAnswer(call: JsonRpcCall, answered: ReadBody): Json {
  const { status, body } = answered;
  const answer = isObject(body) ? body : undefined;
  const failure = answer === undefined ? undefined : nodeError(call, answer, status);
  if (failure !== undefined) throw failure;
  if (!isHttpSuccess(status)) throw httpError(call.endpoint, answered);
  if (answer === undefined) throw malformed(call, 'the body is not a JSON object');
  if (answer['id'] !== call.id) throw malformed(call, 'the answer is for another request');
  return resultOf(call, answer);
}

/**
 * The result of an answer that holds no error.
 * @throws RpcError `malformed`
 */
function resultOf(call: JsonRpcCall, answer: JsonObject): Json {
  if (answer['result'] === undefined) throw malformed(call, 'it has neither result nor error');
  return answer['result'];
}

/** `Retry-After` in milliseconds, from its seconds or its date (RFC 9110 section 10.2.3). */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A 2xx. */
export function isHttpSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/**
 * The error that an answer holds, if it holds one. A node that could not read the request answers with id null.
 * @throws RpcError `malformed` when it is for another request
 */
function nodeError(call: JsonRpcCall, answer: JsonObject, status: number): RpcError | undefined {
  if (answer['error'] === undefined || answer['error'] === null) return undefined;
  if (answer['id'] !== call.id && answer['id'] !== null && answer['id'] !== undefined) {
    throw malformed(call, 'the answer is for another request');
  }
  const error = errorOf(call.endpoint, answer, status);
  if (error !== undefined) return error;
  return isHttpSuccess(status) ? malformed(call, 'its error is not a JSON-RPC error') : undefined;
}

/** The error of an answer, whoever it is for; undefined when it is not in the form of JSON-RPC 2.0 section 5.1. */
function errorOf(endpoint: Endpoint, answer: JsonObject, status: number): RpcError | undefined {
  const parsed = errorSchema.safeParse(answer['error']);
  if (!parsed.success) return undefined;
  const { code, message, data } = parsed.data;
  return new RpcError('node', endpoint.scrub(message), {
    code,
    status,
    // It came out of JSON.parse, so it is JSON.
    ...(data === undefined ? {} : { data: endpoint.scrubData(data as Json) }),
  });
}

/** The error for an answer with nothing but its status. */
function httpError(endpoint: Endpoint, { status, redirect = '' }: Omit<ReadBody, 'body'>): RpcError {
  const message = `${endpoint.name} answered with HTTP status ${status}${endpoint.scrub(redirect)}`;
  return new RpcError('http', message, { status });
}

/** The error for an unusable answer. The reason must hold no text of the endpoint that was not scrubbed. */
function malformed({ endpoint, method }: JsonRpcCall, reason: string): RpcError {
  return new RpcError('malformed', `${endpoint.name} answered ${method} with an invalid response: ${reason}`);
}
