import { xdr } from '@stellar/stellar-sdk/base';
import { z } from 'zod';
import { MarketFailure } from '../../../egress/market-client.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { medianOfEndpoints } from '../../quorum.ts';
import { addressValue, amountOfValue, amountValue, callOperation, listValue } from '../message/contract.ts';
import { readContract } from '../price/simulation.ts';
import { lumensContract, type Soroswap } from './exchanges.ts';
import { isAllowedHop, minSwapReturn, type SwapContext, type SwapTrade } from './trade.ts';

/** Functions of the router (soroswap/core, `SoroswapRouterTrait`). */
const QUOTE = 'router_get_amounts_out';
const SWAP = 'swap_exact_tokens_for_tokens';

/** The most assets on a path, its ends included. */
const MAX_WAY = 5;

/**
 * A swap through Soroswap's router. The API only names a path and a price. The call itself is composed here. The router
 * on the chain tells its own price too, and the one that is better for the relayer counts.
 * @throws MarketFailure where nobody trades the asset
 */
export async function soroswapTrade(swapping: SwapContext): Promise<SwapTrade> {
  const { exchanges, stock, relayer, deadline } = swapping;
  const { soroswap } = exchanges;
  if (soroswap === null) throw new MarketFailure('soroswap has no router on this network');
  const { path, amount } = await routeOf(soroswap, swapping);
  const quoted = await routerQuote(soroswap.router, path, swapping);
  const promised = amount !== null && amount > quoted ? amount : quoted;
  // In the reference's words.
  if (promised === 0n) throw new MarketFailure('No path found for conversion');
  const least = minSwapReturn(promised, swapping);
  const operation = callOperation(soroswap.router, SWAP, [
    amountValue(stock.swapped),
    amountValue(least),
    wayValue(path),
    addressValue(relayer),
    xdr.ScVal.scvU64(deadline),
  ]);
  return { operation, promised, least };
}

const wayValue = (path: readonly string[]): xdr.ScVal => listValue(path.map(addressValue));

interface Route {
  path: readonly string[];
  /** What the API promises, in stroops; null where it was not asked. */
  amount: bigint | null;
}

const digits = z.union([z.string().regex(/^\d{1,39}$/), z.int().min(0)]).transform(BigInt);

/** The API's answer. The path is the router's own, or that of the aggregator's only part. */
const quoteSchema = z.looseObject({
  assetIn: z.string(),
  assetOut: z.string(),
  amountIn: digits,
  amountOut: digits,
  rawTrade: z.looseObject({
    path: z.array(z.string()).nullish(),
    distribution: z
      .array(z.looseObject({ protocol_id: z.union([z.string(), z.number()]).optional(), path: z.array(z.string()) }))
      .nullish(),
  }),
});

async function routeOf({ routes, network }: Soroswap, { stock, policy, passphrase }: SwapContext): Promise<Route> {
  const { asset } = stock.token;
  const lumens = lumensContract(passphrase);
  if (routes === null) return { path: [asset, lumens], amount: null };
  const answer = await routes.post(`/quote?network=${network}`, {
    assetIn: asset,
    assetOut: lumens,
    amount: stock.swapped.toString(),
    tradeType: 'EXACT_IN',
    protocols: ['soroswap'],
    parts: 1,
  });
  const { data } = quoteSchema.safeParse(answer);
  if (data === undefined) throw new MarketFailure('its quote is invalid');
  if (data.assetIn !== asset || data.assetOut !== lumens || data.amountIn !== stock.swapped) {
    throw new MarketFailure('its quote is for something else');
  }
  const { rawTrade } = data;
  const parts = rawTrade.distribution ?? [];
  const path = rawTrade.path ?? (parts.length === 1 ? parts[0]?.path : undefined);
  if (path === undefined) throw new MarketFailure('its quote has no path');
  const [first, ...others] = path;
  if (first !== asset || others.at(-1) !== lumens || path.length > MAX_WAY || new Set(path).size < path.length) {
    throw new MarketFailure('its quote has a path between other assets');
  }
  const stray = others.slice(0, -1).find((hop) => !isAllowedHop(hop, policy));
  if (stray !== undefined) {
    throw new MarketFailure(`its way leads over ${stray}, which allowed_tokens does not name`);
  }
  return { path, amount: data.amountOut };
}

/** The router's own price of the swap, in stroops: the middle one of what several nodes tell. */
async function routerQuote(router: string, path: readonly string[], { rpc, stock }: SwapContext) {
  const ask = async (read: ReadFromEndpoint): Promise<bigint> => {
    const call = { contract: router, name: QUOTE, args: [amountValue(stock.swapped), wayValue(path)] };
    const reply = await readContract(read, call);
    if (typeof reply === 'string') throw new MarketFailure(`the router cannot trade it: ${reply}`);
    const amounts = reply.type === 'scvVec' ? (reply.vec ?? []) : [];
    if (amounts.length !== path.length) throw new MarketFailure('the router returned no quote');
    return amountOfValue(amounts.at(-1));
  };
  return rpc.endpointCount < 2 ? rpc.onOne(ask) : ((await medianOfEndpoints(rpc, ask, 'higher')) ?? rpc.onOne(ask));
}
