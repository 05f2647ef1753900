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

/** What became of a batch. */
export type BatchReading =
  /** One entry for each call, in the order of the calls. */
  | { kind: 'answers'; answers: PromiseSettledResult<Json>[] }
  /** It was not taken as a batch. */
  | {
      kind: 'refused';
      /** Too many calls, batches at all, or only this mixture of methods. */
      reason: 'size' | 'batch' | 'mixture';
      /** Whether nothing of it can have run. */
      isCertain: boolean;
      /** What to say of each call when it is not sent again. */
      failure: (call: JsonRpcCall) => RpcError;
    };

/**
 * How providers speak of a batch they refuse: erigon "batch limit 100 exceeded", geth "batch too large", besu "Number of
 * requests in batch exceeds", alchemy "Unsupported methods [...] in batch call".
 */
const OF_BATCHES = /\bbatch/i;
const OF_SIZE = /too (large|big|many|long)|limit|exceed|max|more than|larger|up to/i;
const OF_METHODS = /unsupported methods?\b/i;
/** The codes with which JSON-RPC 2.0 refuses a request that it could not read as one, so that nothing of it ran. */
const UNREAD = new Set([-32_700, -32_600]);
const NOT_TAKEN = new Set([400, 405, 413, 415, 422, 501]);

/**
 * Holds the answer to a batch against its calls, by JSON-RPC 2.0 section 6: in any order, each matched by its id. What
 * is missing, doubled or foreign costs only the call that it belongs to.
 */
export function readBatch(
  calls: readonly [JsonRpcCall, ...JsonRpcCall[]],
  { status, body }: ReadBody,
  dialect: RpcDialect,
): BatchReading {
  const whole = Array.isArray(body) ? errorOfAll(calls, body) : body;
  if (isObject(whole) && isObject(whole['error'])) {
    const error = errorOf(calls[0].endpoint, whole, status);
    if (error !== undefined) return judgeWhole(calls, error, dialect);
  }
  if (Array.isArray(body)) return { kind: 'answers', answers: match(calls, body, status) };
  if (NOT_TAKEN.has(status)) {
    return refused(status === 413 ? 'size' : 'batch', true, ({ endpoint }) => httpError(endpoint, status));
  }
  if (status === 500) return refused('batch', false, ({ endpoint }) => httpError(endpoint, status));
  if (!isSuccess(status)) return allFail(calls, ({ endpoint }) => httpError(endpoint, status));
  if (isObject(body)) return refused('batch', false, (call) => malformed(call, 'a batch got a single answer'));
  return allFail(calls, (call) => malformed(call, 'the body is not a JSON array'));
}

/** Whether a node's answer to one call is about the batch that it was in, so that alone it may fare better. */
export function blamesBatch(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.kind !== 'node') return false;
  // geth counts the answers of a batch together (rpc/errors.go, errMsgResponseTooLarge).
  return OF_BATCHES.test(error.message) || /^response too large$/i.test(error.message);
}

/** An array may hold one error that stands for all, for the protocol has no other way to say it (geth, erigon). */
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

/** One error for a whole batch: it says of no single call that it failed for this reason. */
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
