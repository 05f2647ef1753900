import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import type { Endpoint } from './endpoint.ts';
import { RpcError } from './rpc-client.ts';

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
export function readAnswer(call: JsonRpcCall, answered: ReadBody): Json {
  const { status, body } = answered;
  const answer = isObject(body) ? body : undefined;
  const failure = answer === undefined ? undefined : nodeError(call, answer, status);
  if (failure !== undefined) throw failure;
  if (!isSuccess(status)) throw httpError(call.endpoint, answered);
  if (answer === undefined) throw malformed(call, 'the body is not a JSON object');
  if (answer['id'] !== call.id) throw malformed(call, 'the answer is for another request');
  return resultOf(call, answer);
}

/**
 * The result of an answer that holds no error.
 * @throws RpcError `malformed`
 */
export function resultOf(call: JsonRpcCall, answer: JsonObject): Json {
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
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/**
 * The error that an answer holds, if it holds one. A node that could not read the request answers with id null.
 * @throws RpcError `malformed` when it is for another request
 */
export function nodeError(call: JsonRpcCall, answer: JsonObject, status: number): RpcError | undefined {
  if (answer['error'] === undefined || answer['error'] === null) return undefined;
  if (answer['id'] !== call.id && answer['id'] !== null && answer['id'] !== undefined) {
    throw malformed(call, 'the answer is for another request');
  }
  const error = errorOf(call.endpoint, answer, status);
  if (error !== undefined) return error;
  return isSuccess(status) ? malformed(call, 'its error is not a JSON-RPC error') : undefined;
}

/** The error of an answer, whoever it is for; undefined when it is not in the form of JSON-RPC 2.0 section 5.1. */
export function errorOf(endpoint: Endpoint, answer: JsonObject, status: number): RpcError | undefined {
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
export function httpError(endpoint: Endpoint, { status, redirect = '' }: Omit<ReadBody, 'body'>): RpcError {
  const message = `${endpoint.name} answered with HTTP status ${status}${endpoint.scrub(redirect)}`;
  return new RpcError('http', message, { status });
}

/** The error for an unusable answer. The reason must hold no text of the endpoint that was not scrubbed. */
export function malformed({ endpoint, method }: JsonRpcCall, reason: string): RpcError {
  return new RpcError('malformed', `${endpoint.name} answered ${method} with an invalid response: ${reason}`);
}
