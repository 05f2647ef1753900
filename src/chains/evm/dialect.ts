import type { RpcDialect } from '../../egress/rpc/rpc-verdict.ts';

/** What Ethereum's nodes say. The corpus of the tests has the texts and where each comes from. */
export const dialect: RpcDialect = {
  texts: [
    // Wrapped in -32603 or -32002 by some: taking them for trouble of the node would pause every endpoint in turn.
    [
      'state',
      /nonce|already (known|imported)|same hash was already imported|\bknown transaction|underpriced|insufficient (funds|balance)|revert|vm (execution|exception)|out of gas|gas required exceeds|gas limit|base ?fee/i,
    ],
    [
      'request',
      /execution aborted|intrinsic gas|invalid (sender|signature|chain)|invalid argument|(returned|requested) more than|block range/i,
    ],
    // They hold before a gateway's refusals: a plan without archive is no reason not to ask for what is recent.
    [
      'nobody',
      /missing trie node|header .*not found|(unknown|missing) block|block .*(not (found|available)|out of range)|historical (state|data)|state .*(not available|unavailable)|no state available|pruned|pruning|archive|neither stored nor|indexing is in progress/i,
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
