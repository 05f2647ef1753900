import type { ChainClient } from '../../src/chains/chain-client.ts';
import { createStellarChain } from '../../src/chains/stellar/index.ts';
import { rpcDialect } from '../../src/chains/stellar/rpc-error-dialect.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { Network } from '../../src/features/networks/record.ts';
import { openRpc } from './evm.ts';
import { NO_MARKET } from './no-market.ts';

/** The live side of a Stellar network over loopback endpoints. */
export function openStellar(
  urls: readonly string[],
  settings: JsonObject = {},
): { client: ChainClient; close: () => Promise<void> } {
  const rpc = openRpc(urls, undefined, rpcDialect);
  const rpcUrls = urls.map((url) => ({ url, weight: 100 }));
  const network: Network = { type: 'stellar', name: 'testnet', rpcUrls, settings };
  return { client: createStellarChain().connect(network, rpc, NO_MARKET), close: () => rpc.close() };
}
