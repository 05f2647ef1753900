/** The verdict for each meaning, in the order of the tables in the dialect and in `rpc-verdict.ts`. */
export const VERDICTS = {
  permanent: { meaning: 'permanent', retry: 'final', countsAgainst: false, overload: false },
  state: { meaning: 'state', retry: 'final', countsAgainst: false, overload: false },
  lacks: { meaning: 'endpoint', retry: 'elsewhere', countsAgainst: false, overload: false },
  refuses: { meaning: 'endpoint', retry: 'elsewhere', countsAgainst: true, overload: false },
  troubled: { meaning: 'endpoint', retry: 'again', countsAgainst: true, overload: false },
  overloaded: { meaning: 'endpoint', retry: 'again', countsAgainst: true, overload: true },
} as const;

/** Error code, text, source of the text, HTTP status. */
export type Said = readonly [code: number, text: string, source: string, status?: number];

/**
 * Answers of hosted providers and gateways. A source with a GitHub repository and an issue or a path was read there. A
 * source with `memory` was not looked up.
 */
export const GATEWAYS: Partial<Record<keyof typeof VERDICTS, readonly Said[]>> = {
  permanent: [
    [-32_600, 'Invalid Request', 'hiero-ledger/hiero-json-rpc-relay issue 1820'],
    [-32_700, 'parse error', 'ethereum-optimism/infra proxyd/backend.go', 400],
    [-32_602, 'missing value for required argument 0', 'memory: geth', 500],
    [-32_000, 'unknown transaction', 'memory: no pool says with it that it has one'],
    [-32_614, 'eth_getLogs is limited to a 10,000 range', 'erpc/erpc thirdparty/quicknode.go (-32614)'],
    [-32_000, 'some text that nobody knows', 'invented'],
  ],
  lacks: [
    [-32_601, 'the method eth_x does not exist/is not available', 'ethereum/go-ethereum rpc/errors.go'],
    [-32_601, 'rpc method is not whitelisted', 'ethereum-optimism/infra proxyd/backend.go', 403],
    [-32_004, 'Method not supported', 'EIP-1474: memory'],
    [35, 'method is not available on freetier, please upgrade to paid tier', 'drpcorg/nodecore pull 159'],
    [-32_000, 'Unsupported method: trace_block', 'erpc/erpc architecture/evm/error_normalizer.go'],
  ],
  refuses: [
    [-32_600, 'Monthly capacity limit exceeded. Visit https://…', 'xmtp/xmtpd issue 672 (Alchemy)', 403],
    [-32_000, 'Monthly capacity limit exceeded. Visit https://…', 'a16z/zkdocs issue 9 (Alchemy)'],
    [-32_600, 'Must be authenticated!', 'erpc/erpc thirdparty/alchemy.go', 401],
    [-32_005, 'daily request count exceeded, request rate limited', 'gochain/web3 issue 180 (Infura)', 429],
    [-32_005, 'legacy access request rate exceeded', 'herdius/herdius-core pull 58 (Infura)', 429],
    [-32_002, 'rejected due to project ID settings', 'xclud/web3dart issue 15 (Infura)'],
    [
      -32_000,
      'Unauthorized: You must authenticate your request with an API key.',
      'BitteProtocol/near-ca pull 173 (Ankr)',
    ],
    [-32_052, 'API key is not allowed to access blockchain', 'wevm/viem issue 3476 (Ankr)', 403],
    [-32_000, 'UNAUTHORIZED', 'erpc/erpc thirdparty/quicknode.go'],
    [4, 'token is invalid', 'erpc/erpc thirdparty/drpc.go'],
    [-32_000, 'You have reached the free tier limit', 'erpc/erpc error_normalizer.go (reached the free tier)'],
    [-32_600, 'a text that nobody knows', 'invented', 403],
  ],
  overloaded: [
    [429, 'Your app has exceeded its compute units per second capacity.', 'conduitxyz/node issue 36 (Alchemy)', 429],
    [-32_000, 'Your app has exceeded its compute units per second capacity.', 'LimeChain/hashport-validator issue 473'],
    [
      -32_007,
      '100/second request limit reached - reduce calls per second',
      'foundry-rs/foundry issue 4894 (QuickNode)',
    ],
    [-32_000, 'credits limited to 500/sec', 'support.quicknode.com article 20633265909521'],
    [-32_000, '429 Too Many Requests: {"error":{"code":-32016,"message":"over rate limit"}}', 'base/node issue 368'],
    [-32_016, 'over rate limit', 'ethereum-optimism/infra proxyd/backend.go', 429],
    [-32_012, 'backend is over capacity', 'ethereum-optimism/infra proxyd/backend.go', 429],
    [-32_015, 'gateway timeout', 'ethereum-optimism/infra proxyd/backend.go', 504],
    [-31_999, 'rate limit exceeded', 'Ankr-network/ankr-docs issue 1645'],
    [-32_005, 'rate limit exceeded', 'fluencelabs/dev-rewards issue 20 (Tenderly)'],
    [-32_005, 'limit exceeded', 'EIP-1474: memory'],
    [-32_000, 'under too much load', 'erpc/erpc architecture/evm/error_normalizer.go'],
    [-32_002, 'request timed out', 'geth rpc/errors.go errMsgTimeout, by public code search'],
    [-32_000, 'a text that nobody knows', 'invented', 429],
  ],
  troubled: [
    [-32_011, 'no backend is currently healthy to serve traffic', 'ethereum-optimism/infra proxyd/backend.go', 503],
    [-32_010, 'backend offline', 'ethereum-optimism/infra proxyd/backend.go', 503],
    [-32_013, 'backend returned an invalid response', 'ethereum-optimism/infra proxyd/backend.go', 500],
    [-32_603, 'internal error', 'JSON-RPC 2.0 section 5.1'],
    [-32_000, 'internal error', 'ethereum-optimism/infra proxyd/backend.go', 500],
    [-32_000, 'service temporarily unavailable, please try again later', 'public code search: Infura'],
  ],
};

/** Answers of Ethereum nodes, direct or through a gateway. The sources are noted in the same way. */
export const ETHEREUM: Partial<Record<keyof typeof VERDICTS, readonly Said[]>> = {
  state: [
    [-32_603, 'Transaction nonce too low', 'OpenZeppelin/openzeppelin-relayer issue 681'],
    [-32_002, 'nonce too low: next nonce 5, tx nonce 4', 'the same, under another code: memory'],
    [-32_000, 'nonce too low', 'tradingstrategy-ai/web3-ethereum-defi pull 153'],
    [32_001, 'Nonce too low. Provided nonce: 81, current nonce: 81', 'hiero-ledger/hiero-json-rpc-relay issue 1791'],
    [-32_000, 'already known', 'ethereum/go-ethereum issue 29475'],
    [-32_010, 'Transaction with the same hash was already imported.', 'memory: openethereum'],
    [-32_000, 'known transaction: 0x2a', 'memory: geth before 1.9'],
    [-32_603, 'replacement transaction underpriced', 'memory: geth core/txpool/errors.go'],
    [-32_603, 'insufficient funds for gas * price + value', 'erpc/erpc architecture/evm/error_normalizer.go', 500],
    [-32_000, 'insufficient balance', 'erpc/erpc architecture/evm/error_normalizer.go'],
    [-32_015, 'VM execution error.', 'public code search: parity and its kin'],
    [-32_603, 'execution reverted: paused', 'memory: geth'],
    [3, 'execution reverted', 'erpc/erpc thirdparty/alchemy.go (code 3)'],
    [-32_010, 'Transaction cost exceeds current gas limit', 'erpc/erpc thirdparty/quicknode.go'],
    [-32_000, 'max fee per gas less than block base fee', 'memory: geth core/error.go'],
  ],
  permanent: [
    [-32_602, 'invalid argument 0: json: cannot unmarshal hex string', 'erpc/erpc thirdparty/quicknode.go'],
    [-32_005, 'query returned more than 10000 results', 'erpc/erpc error_normalizer.go (returned more than)'],
    [-32_005, 'Limit exceeded: Query requested more than 10.000 blocks', 'energywebfoundation/origin issue 2378'],
  ],
  lacks: [
    [-32_000, 'missing trie node c6eb (path ) state 0xc6eb is not available, not found', '0xPolygon/bor issue 1303'],
    [-32_000, 'header not found', 'public code search, several'],
    [-32_000, 'execution aborted (timeout = 5s)', 'memory: geth, the limit of time of this node'],
    [-32_000, 'header not found', 'the same behind a gateway: invented', 503],
    [-32_002, 'project ID is required to access archive state', 'ethereum-development-with-go-book issue 42', 403],
    [-32_000, 'project ID does not have access to archive state', 'public code search: hardhat’s guide'],
    [
      -32_000,
      'This request is not supported because your node is running with state pruning.',
      'openethereum issue 178',
    ],
    [-32_000, 'state does not maintain archive data', '0xsoniclabs/sonic issue 1046'],
    [-32_000, 'transaction indexing is in progress', 'ethereum/go-ethereum issue 29956'],
    [-32_019, 'block is out of range', 'ethereum-optimism/infra proxyd/backend.go', 400],
    [-32_000, 'World state unavailable', 'memory: besu'],
    [-32_000, 'No state available for block 0x1', 'memory: nethermind'],
    [-32_000, 'required historical state unavailable (reexec=128)', 'memory: geth'],
    [4_444, 'Pruned history unavailable', 'ethereum/execution-apis pull 636'],
    [4_444, 'requested: 5, earliest available: 9', 'EIP-4444 with another text, as in paradigmxyz/reth pull 26550'],
    [
      -32_602,
      'Receipts for block 5 are neither stored nor reproducible from state history.',
      'public code search: nethermind',
    ],
    [-32_001, 'Resource not found', 'EIP-1474: memory'],
  ],
  troubled: [[-32_002, 'resource unavailable', 'EIP-1474: memory']],
};

/** Every entry of a corpus, each with its meaning. */
export function allOf(corpus: typeof GATEWAYS): (readonly [keyof typeof VERDICTS, Said])[] {
  const entries = Object.entries(corpus) as [keyof typeof VERDICTS, readonly Said[]][];
  return entries.flatMap(([meaning, texts]) => texts.map((said) => [meaning, said] as const));
}
