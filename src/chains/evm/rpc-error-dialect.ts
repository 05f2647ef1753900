import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/** How to read the errors of Ethereum's nodes. The corpus of the tests has the texts and where each comes from. */
export const rpcDialect: RpcDialect = {
  texts: [
    // Some nodes wrap these in -32603 or -32002. If they counted as trouble of the node, every endpoint in turn would
    // be paused.
    [
      'state',
      /nonce|already (known|imported)|same hash was already imported|\bknown transaction|underpriced|insufficient (funds|balance)|revert|vm (execution|exception)|out of gas|gas required exceeds|gas limit|base ?fee/i,
    ],
    [
      'request',
      /intrinsic gas|invalid (sender|signature|chain)|invalid argument|(returned|requested) more than|block range/i,
    ],
    // "execution aborted" is the node's own limit of time (geth `--rpc.evmtimeout`): another node may have more.
    // Matched before a gateway's refusals: an endpoint without an archive in its plan can still be asked for recent
    // data.
    [
      'nobody',
      /execution aborted|missing trie node|header .*not found|(unknown|missing) block|block .*(not (found|available)|out of range)|historical (state|data)|state .*(not available|unavailable)|no state available|pruned|pruning|archive|neither stored nor|indexing is in progress/i,
    ],
  ],
  /** EIP-1474, and "pruned history unavailable" of EIP-4444. */
  codes: new Map([
    [-32_001, 'nobody'],
    [-32_002, 'endpoint'],
    [-32_004, 'nobody'],
    [4_444, 'nobody'],
  ]),
};
