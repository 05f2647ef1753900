import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/**
 * How errors of Stellar's endpoints are read. Nodes have the codes of JSON-RPC only, and tell a transaction's fate as a
 * result.
 */
export const rpcDialect: RpcDialect = {
  // An internal error that names the account's sequence is not the node's fault.
  texts: [['state', /bad.?seq|sequence number/i]],
  codes: new Map([[-32_002, 'endpoint']]),
};
