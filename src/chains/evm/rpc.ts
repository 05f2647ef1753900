import { invalidRequest } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { type RpcClient, RpcError, type RpcOutcome } from '../../egress/rpc-client.ts';

/**
 * Methods that may be asked twice, so that another endpoint can answer when one fails. Everything else is offered to
 * one endpoint once, for it may do something.
 */
const REPEATABLE =
  /^(eth_(get(?!Work)|call|estimate|blockNumber|chainId|gasPrice|feeHistory|maxPriorityFeePerGas|blobBaseFee|syncing|accounts|createAccessList|protocolVersion|simulate)|net_|web3_|trace_|debug_(trace|get)|txpool_|rpc_modules)/;

/** Passes one call through; what a node or the way to it answers becomes part of the outcome. */
export async function passThrough(rpc: RpcClient, body: unknown): Promise<RpcOutcome> {
  const call = readCall(body);
  const echo = call.id === null ? {} : { id: call.id };
  try {
    const result = REPEATABLE.test(call.method)
      ? await rpc.read(call.method, call.params)
      : await rpc.offer(call.method, call.params);
    return { jsonrpc: '2.0', result, ...echo };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { jsonrpc: '2.0', error: describe(error), ...echo };
  }
}

interface PassedCall {
  method: string;
  params: Json;
  id: string | number | null;
}

/** @throws AppError `INVALID_REQUEST` with the reference's texts */
function readCall(body: unknown): PassedCall {
  const { method, params = null, id = 1 } = isRecord(body) ? body : {};
  const isKnownId = id === null || typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
  if (!isKnownId) throw invalidRequest("Invalid 'id' field: must be a string, integer, or null");
  if (typeof method !== 'string' || method === '') throw invalidRequest("Missing 'method' field");
  return { method, params: params as Json, id };
}

/** The reference's codes and texts. They say nothing of the endpoint, nor what the node said. */
function describe({ kind, code, status }: RpcError): NonNullable<RpcOutcome['error']> {
  if (kind === 'timeout') {
    return error(-33_000, 'Request timeout', 'The request timed out. Please try again later');
  }
  if (status === 429) return error(-33_001, 'Rate limited', 'Rate limit exceeded. Please try again later');
  if (kind === 'http' && status === 502) {
    return error(-33_002, 'Bad gateway', 'Service temporarily unavailable. Please try again later');
  }
  if (kind === 'http') return error(-33_003, 'Request error', `Request failed with status code ${status}`);
  if (kind === 'node') return error(-32_603, 'Internal error', `RPC error occurred (code: ${code})`);
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
