import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/** What endpoints of Stellar say. Its nodes have the codes of JSON-RPC only, and tell a transaction's fate as a result. */
export const dialect: RpcDialect = {
  // An internal error that names the account's sequence is none of the node's.
  texts: [['state', /bad.?seq|sequence number/i]],
  codes: new Map([[-32_002, 'endpoint']]),
};
