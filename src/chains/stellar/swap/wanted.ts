import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Account, ParsedRequest } from '../../chain-client.ts';
import { readPolicy } from '../configuration/policy.ts';
import type { SwapRequest } from '../schema.ts';
import { strategyFor } from './exchanges.ts';
import { stockOf } from './stock.ts';

/** A request to swap each token of which there is something to swap. Its amounts are found when it is signed. */
export async function swapsOf(rpc: RpcClient, { address, policies }: Account): Promise<ParsedRequest[]> {
  const { swaps, allowedTokens, feePayer } = readPolicy(policies);
  if (swaps === null || feePayer !== 'user') return [];
  const swappable = allowedTokens.filter(({ asset }) => strategyFor(asset, swaps.strategies) !== undefined);
  const stocks = await rpc.onOne((read) => Promise.all(swappable.map((token) => stockOf(read, address, token))));
  return stocks.flatMap((stock): ParsedRequest[] => {
    if (stock === undefined) return [];
    const { asset } = stock.token;
    return [
      {
        request: { swap: { asset } } satisfies SwapRequest,
        validUntil: null,
        contentKey: `swap:${asset}`,
        anchorKind: 'sequence',
        onDeath: 'renew',
      },
    ];
  });
}
