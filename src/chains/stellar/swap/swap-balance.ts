import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { ParsedRequest, RelayerAccount } from '../../chain-client.ts';
import { amountToSwap } from '../../policy-fields.ts';
import { isContractAddress } from '../address.ts';
import { type AllowedToken, readPolicy } from '../configuration/policy.ts';
import { tokenBalance } from '../price/simulation.ts';
import { getSpendableBalance } from '../rpc-calls.ts';
import type { SwapRequest } from '../schema.ts';
import { parseAssetName } from '../sponsor/asset.ts';
import { swapStrategyFor } from './exchanges.ts';

/** What a relayer has of a token, and how much of that is to be swapped. */
export interface SwapBalance {
  token: AllowedToken;
  /** In the token's smallest unit; more than nothing. */
  swapped: bigint;
}

/** How much of a token is to be swapped now; undefined where that is nothing, as where there is no trust line. */
export async function swapBalanceOf(
  read: ReadFromEndpoint,
  address: string,
  token: AllowedToken,
): Promise<SwapBalance | undefined> {
  const held = isContractAddress(token.asset)
    ? await tokenBalance(read, token.asset, address)
    : ((await getSpendableBalance(read, address, parseAssetName(token.asset))) ?? 0n);
  const swapped = amountToSwap(held, token.swapped);
  return swapped === 0n ? undefined : { token, swapped };
}

/** A request to swap each token of which there is something to swap. Its amounts are found when it is signed. */
export async function swapRequestsOf(rpc: RpcClient, { address, policies }: RelayerAccount): Promise<ParsedRequest[]> {
  const { swapConfig: swaps, allowedTokens, feePaymentStrategy } = readPolicy(policies);
  if (swaps === null || feePaymentStrategy !== 'user') return [];
  const swappable = allowedTokens.filter(({ asset }) => swapStrategyFor(asset, swaps.strategies) !== undefined);
  const stocks = await rpc.onOne((read) => Promise.all(swappable.map((token) => swapBalanceOf(read, address, token))));
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
