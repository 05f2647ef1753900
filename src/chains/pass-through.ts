import { invalidRequest } from '../domain/errors.ts';
import { isObject, type Json } from '../domain/json/json.ts';
import { type RpcClient, RpcError, type RpcOutcome } from '../egress/rpc/rpc-client.ts';

/**
 * Passes one call through to a node. Answers and errors, of the node or on the way to it, become part of the outcome. A
 * call that may do more than read is offered to one endpoint once.
 */
export async function passThrough(
  rpc: RpcClient,
  body: unknown,
  isRead: (method: string) => boolean,
): Promise<RpcOutcome> {
  const call = readClientCall(body);
  const echo = call.id === null ? {} : { id: call.id };
  try {
    const result = isRead(call.method)
      ? await rpc.read(call.method, call.params, (answer) => answer, { isForeign: true })
      : await rpc.offer(call.method, call.params, { isForeign: true });
    return { jsonrpc: '2.0', result, ...echo };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { jsonrpc: '2.0', error: describe(error), ...echo };
  }
}

/** One JSON-RPC call of a client. */
export interface ClientCall {
  method: string;
  /** Null where there are none. */
  params: Json;
  /** Null where none is wanted in the answer. */
  id: string | number | null;
}

/** @throws AppError `INVALID_REQUEST` with the reference's texts */
export function readClientCall(body: unknown): ClientCall {
  const { method, params = null, id = 1 } = isObject(body) ? body : {};
  const isKnownId = id === null || typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
  if (!isKnownId) throw invalidRequest("Invalid 'id' field: must be a string, integer, or null");
  if (typeof method !== 'string' || method === '') throw invalidRequest("Missing 'method' field");
  return { method, params: params as Json, id };
}

/**
 * Describes an error to the client. A node's own error stays as it is: clients read the cause of a revert out of it.
 * Other errors get the reference's codes and texts. Neither says anything about the endpoint.
 */
function describe({ kind, code, status, message, data }: RpcError): NonNullable<RpcOutcome['error']> {
  if (kind === 'node' && code !== undefined) {
    const shown = error(code, message, `RPC error occurred (code: ${code})`);
    return data === undefined ? shown : { ...shown, data };
  }
  if (kind === 'timeout') {
    return error(-33_000, 'Request timeout', 'The request timed out. Please try again later');
  }
  if (kind === 'limited' || status === 429) {
    return error(-33_001, 'Rate limited', 'Rate limit exceeded. Please try again later');
  }
  if (kind === 'http' && status === 502) {
    return error(-33_002, 'Bad gateway', 'Service temporarily unavailable. Please try again later');
  }
  if (kind === 'http') return error(-33_003, 'Request error', `Request failed with status code ${status}`);
  if (kind === 'blocked') {
    const description = 'Network configuration error. Please check your network settings';
    return error(-33_004, 'Network configuration error', description);
  }
  if (kind === 'transport') {
    return error(-32_603, 'Internal error', 'Network error occurred. Please try again later');
  }
  return error(-32_603, 'Internal error', 'An internal error occurred. Please try again later');
}

function error(code: number, message: string, description: string): NonNullable<RpcOutcome['error']> {
  return { code, message, description };
}
