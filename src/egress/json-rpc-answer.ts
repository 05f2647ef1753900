import { z } from 'zod';
import type { Json } from '../domain/json.ts';
import type { Endpoint } from './endpoint.ts';
import type { HttpAnswer } from './http-client.ts';
import { RpcError } from './rpc-client.ts';

/** One request as it was sent, to hold its answer against. */
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
export function readAnswer(call: JsonRpcCall, { status, body }: HttpAnswer): Json {
  const answer = parseObject(body);
  const failure = answer === undefined ? undefined : nodeError(call, answer, status);
  if (failure !== undefined) throw failure;
  if (status < 200 || status > 299) {
    throw new RpcError('http', `${call.endpoint.name} answered with HTTP status ${status}`, { status });
  }
  if (answer === undefined) throw malformed(call, 'the body is not a JSON object');
  if (answer['id'] !== call.id) throw malformed(call, 'the answer is for another request');
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

function parseObject(body: Buffer): Record<string, Json> | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A node that could not read the request answers with id null; any other foreign id is not our answer. */
function nodeError(call: JsonRpcCall, answer: Record<string, Json>, status: number): RpcError | undefined {
  if (answer['error'] === undefined || answer['error'] === null) return undefined;
  if (answer['id'] !== call.id && answer['id'] !== null && answer['id'] !== undefined) {
    throw malformed(call, 'the answer is for another request');
  }
  const parsed = errorSchema.safeParse(answer['error']);
  if (!parsed.success) {
    return status >= 200 && status <= 299 ? malformed(call, 'its error is not a JSON-RPC error') : undefined;
  }
  const { code, message, data } = parsed.data;
  return new RpcError('node', call.endpoint.scrub(message), {
    code,
    status,
    // It came out of JSON.parse, so it is JSON.
    ...(data === undefined ? {} : { data: data as Json }),
  });
}

function malformed({ endpoint, method }: JsonRpcCall, reason: string): RpcError {
  return new RpcError('malformed', `${endpoint.name} answered ${method} with nonsense: ${reason}`);
}
