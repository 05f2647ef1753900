import { Asset, Keypair, xdr } from '@stellar/stellar-sdk/base';
import { MarketFailure } from '../../../egress/market-client.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { StellarPolicy } from '../configuration/policy.ts';
import { assetName, parseAssetName } from '../sponsor/asset.ts';
import { withoutTolerance } from '../sponsor/figures.ts';
import { findPaymentPaths } from '../sponsor/horizon.ts';
import type { SwapExchanges } from './exchanges.ts';
import type { SwapBalance } from './swap-balance.ts';

/** What all ways of swapping need to know. */
export interface SwapContext {
  rpc: RpcClient;
  exchanges: SwapExchanges;
  policy: StellarPolicy;
  stock: SwapBalance;
  relayer: string;
  passphrase: string;
  /** Unix seconds; the swap is not to be executed later. */
  deadline: bigint;
}

/** An operation that gives a fixed amount of an asset for lumens, or fails. */
export interface SwapTrade {
  operation: xdr.Operation;
  /** In stroops: the price that was found, and the least that the swap may bring. */
  promised: bigint;
  least: bigint;
}

/** The least that a swap at this price may bring, in stroops. */
export function minSwapReturn(
  promised: bigint,
  { stock: { token }, policy }: Pick<SwapContext, 'stock' | 'policy'>,
): bigint {
  const least = withoutTolerance(promised, token.slippage ?? policy.slippagePercentage);
  return least > 0n ? least : 1n;
}

/**
 * Whether a path may lead over an asset. The issuer of an asset makes its price. Over an asset that the policies do not
 * name, a price service could lead everything to where it is worth nothing.
 */
export function isAllowedHop(name: string, { allowedTokens }: StellarPolicy): boolean {
  return name === 'native' || allowedTokens.some(({ asset }) => asset === name);
}

/**
 * A payment of the relayer to itself through the order books, by the best path that Horizon knows and the policies
 * allow.
 * @throws MarketFailure where there is none
 */
export async function orderBookTrade(swapping: SwapContext): Promise<SwapTrade> {
  const { exchanges, policy, stock, relayer } = swapping;
  const from = parseAssetName(stock.token.asset);
  const paths = await findPaymentPaths(exchanges.books, { from, amount: stock.swapped, to: Asset.native() });
  const [best] = paths
    .filter(({ amount, hops }) => amount > 0n && hops.every((hop) => isAllowedHop(assetName(hop), policy)))
    .toSorted((one, other) => (one.amount > other.amount ? -1 : 1));
  // In the reference's words.
  if (best === undefined) throw new MarketFailure(`No path found for conversion${detourOf(paths.length)}`);
  const least = minSwapReturn(best.amount, swapping);
  const trade = new xdr.PathPaymentStrictSendOp({
    sendAsset: from.toXdrObject(),
    sendAmount: stock.swapped,
    destination: Keypair.fromPublicKey(relayer).xdrMuxedAccount(),
    destAsset: Asset.native().toXdrObject(),
    destMin: least,
    path: best.hops.map((hop) => hop.toXdrObject()),
  });
  const operation = new xdr.Operation({ sourceAccount: null, body: xdr.OperationBody.pathPaymentStrictSend(trade) });
  return { operation, promised: best.amount, least };
}

function detourOf(paths: number): string {
  return paths === 0 ? '' : ': each leads over an asset that allowed_tokens does not name';
}
