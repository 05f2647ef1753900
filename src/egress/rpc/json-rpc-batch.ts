import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import {
  errorOf,
  httpError,
  isSuccess,
  type JsonRpcCall,
  malformed,
  nodeError,
  type ReadBody,
  resultOf,
} from './json-rpc-answer.ts';
import { RpcError } from './rpc-client.ts';
import { judgeFailure, type RpcDialect } from './rpc-verdict.ts';

/** The outcome of a batch. */
export type BatchReading =
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
export function readBatch(
  calls: readonly [JsonRpcCall, ...JsonRpcCall[]],
  answered: ReadBody,
  dialect: RpcDialect,
): BatchReading {
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
  if (!isSuccess(status)) return allFail(calls, ({ endpoint }) => httpError(endpoint, answered));
  if (isObject(body)) return refused('batch', false, (call) => malformed(call, 'a batch got a single answer'));
  return allFail(calls, (call) => malformed(call, 'the body is not a JSON array'));
}

/** Whether a node's error for one call is about its batch, so that the call may succeed alone. */
export function blamesBatch(error: unknown): boolean {
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
function judgeWhole(calls: readonly JsonRpcCall[], error: RpcError, dialect: RpcDialect): BatchReading {
  const { code = 0, message, status = 200 } = error;
  const failure = (call: JsonRpcCall) => malformed(call, `a batch got one error: ${message} (code ${code})`);
  if (OF_BATCHES.test(message)) {
    if (OF_METHODS.test(message)) return refused('mixture', true, failure);
    return refused(OF_SIZE.test(message) ? 'size' : 'batch', true, failure);
  }
  if (status === 413) return refused('size', true, failure);
  const { meaning, overload, countsAgainst, retry } = judgeFailure(error, dialect);
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

function allFail(calls: readonly JsonRpcCall[], failure: (call: JsonRpcCall) => RpcError): BatchReading {
  return { kind: 'answers', answers: calls.map((call) => ({ status: 'rejected', reason: failure(call) })) };
}

function refused(
  reason: 'size' | 'batch' | 'mixture',
  isCertain: boolean,
  failure: (call: JsonRpcCall) => RpcError,
): BatchReading {
  return { kind: 'refused', reason, isCertain, failure };
}
