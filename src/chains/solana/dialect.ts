import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/** What Solana's nodes say (agave, rpc-client-api/src/custom_error.rs). */
export const dialect: RpcDialect = {
  // A simulation's text quotes why the transaction fails, so no word in it is about the node.
  texts: [['state', /simulation failed|blockhash not found|already been processed/i]],
  codes: new Map([
    // Its first block is later.
    [-32_001, 'nobody'],
    // The simulation before the sending failed: what clients send must not pause an endpoint.
    [-32_002, 'state'],
    // Signatures, precompiles, their number, the version.
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
    // Behind by its own account; its long-term storage does not answer.
    [-32_005, 'endpoint'],
    [-32_019, 'endpoint'],
  ]),
};
