import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Account, ParsedRequest } from '../../chain-client.ts';
import { readPolicy } from '../configuration/policy.ts';
import type { SolanaRequest } from '../schema.ts';
import { stocksOf } from './stock.ts';

/** A request to swap each token of which there is something to swap. Its amounts are found when it is signed. */
export async function swapsOf(rpc: RpcClient, { address, policies }: Account): Promise<ParsedRequest[]> {
  const { swaps, allowedTokens } = readPolicy(policies);
  if (swaps === null) return [];
  const stocks = await rpc.onOne((read) => stocksOf(read, address, allowedTokens));
  return stocks.map(({ token: { mint } }) => ({
    request: { swap: { mint } } satisfies SolanaRequest,
    validUntil: null,
    contentKey: `swap:${mint}`,
    anchorKind: 'none',
    onDeath: 'renew',
  }));
}
