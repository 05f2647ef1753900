import { invalidRequest } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { type RpcClient, RpcError, type RpcOutcome } from '../../egress/rpc-client.ts';

/**
 * The methods of Ethereum's nodes that only read. Whatever is not among them may do something: it is offered to one
 * endpoint once, and a plugin whose sending is limited may not call it. Names say little about that: nodes of every kind
 * have some of their own that move money, unlock accounts or set the chain back.
 */
const READS: ReadonlySet<string> = new Set(
  `eth_accounts eth_blobBaseFee eth_blockNumber eth_call eth_callMany eth_chainId eth_coinbase eth_createAccessList
   eth_estimateGas eth_feeHistory eth_gasPrice eth_getAccount eth_getBalance eth_getBlockByHash eth_getBlockByNumber
   eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getCode
   eth_getFilterChanges eth_getFilterLogs eth_getHeaderByHash eth_getHeaderByNumber eth_getLogs eth_getProof
   eth_getRawTransactionByBlockHashAndIndex eth_getRawTransactionByBlockNumberAndIndex eth_getRawTransactionByHash
   eth_getStorageAt eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex
   eth_getTransactionByHash eth_getTransactionBySenderAndNonce eth_getTransactionCount eth_getTransactionReceipt
   eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash
   eth_getUncleCountByBlockNumber eth_maxPriorityFeePerGas eth_protocolVersion eth_simulateV1 eth_syncing
   net_listening net_peerCount net_version web3_clientVersion web3_sha3 rpc_modules
   txpool_content txpool_contentFrom txpool_inspect txpool_status
   debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction debug_storageRangeAt
   debug_traceBlockByHash debug_traceBlockByNumber debug_traceCall debug_traceCallMany debug_traceTransaction
   trace_block trace_call trace_callMany trace_filter trace_get trace_rawTransaction trace_replayBlockTransactions
   trace_replayTransaction trace_transaction
   zks_estimateFee zks_estimateGasL1ToL2 zks_getBlockDetails zks_getTransactionDetails zks_L1BatchNumber zks_L1ChainId
   zkevm_batchNumber zkevm_estimateFee zkevm_estimateGasPrice linea_estimateGas`.split(/\s+/),
);

/** Whether a method is known to do nothing but read, so that it may be asked twice. */
export function isRead(method: string): boolean {
  return READS.has(method);
}

/** Passes one call through; what a node or the way to it answers becomes part of the outcome. */
export async function passThrough(rpc: RpcClient, body: unknown): Promise<RpcOutcome> {
  const call = readCall(body);
  const echo = call.id === null ? {} : { id: call.id };
  try {
    const result = isRead(call.method)
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

/**
 * What a node answers stays what it is: clients read the cause of a revert out of it. For what is not a node's word the
 * reference's codes and texts. Neither says anything of the endpoint.
 */
function describe({ kind, code, status, message, data }: RpcError): NonNullable<RpcOutcome['error']> {
  if (kind === 'node' && code !== undefined) {
    const told = error(code, message, `RPC error occurred (code: ${code})`);
    return data === undefined ? told : { ...told, data };
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
