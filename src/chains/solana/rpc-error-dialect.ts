import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/** How errors of Solana's nodes are read (agave, rpc-client-api/src/custom_error.rs). */
export const rpcDialect: RpcDialect = {
  // The text of a failed simulation quotes the transaction's error. It says nothing about the node.
  texts: [['state', /simulation failed|blockhash not found|already been processed/i]],
  codes: new Map([
    // The requested block is earlier than the node's first block.
    [-32_001, 'nobody'],
    // The simulation before sending failed. A client's bad transaction must not pause an endpoint.
    [-32_002, 'state'],
    // A wrong signature, a failed precompile, a wrong number of signatures, an unsupported version.
    [-32_003, 'request'],
    [-32_006, 'request'],
    [-32_013, 'request'],
    [-32_015, 'request'],
    // No such block, a skipped slot, no snapshot, no long-term storage, no index, no history, not yet.
    [-32_004, 'nobody'],
    [-32_007, 'nobody'],
    [-32_008, 'nobody'],
    [-32_009, 'nobody'],
    [-32_010, 'nobody'],
    [-32_011, 'nobody'],
    [-32_014, 'nobody'],
    [-32_016, 'nobody'],
    // The node says that it is behind, or its long-term storage does not answer.
    [-32_005, 'endpoint'],
    [-32_019, 'endpoint'],
  ]),
};
