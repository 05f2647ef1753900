import { Asset, Keypair, xdr } from '@stellar/stellar-sdk/base';
import { MarketFailure } from '../../../egress/market-client.ts';
import { assetNamed, nameOf } from '../sponsor/asset.ts';
import { pathsOf } from '../sponsor/horizon.ts';
import { isAllowedHop, leastOf, type Swapping, type Trade } from './trade.ts';

/**
 * A payment of the relayer to itself through the order books, by the best path that Horizon knows and the policies
 * allow.
 * @throws MarketFailure where there is none
 */
export async function orderBookTrade(swapping: Swapping): Promise<Trade> {
  const { exchanges, policy, stock, relayer } = swapping;
  const from = assetNamed(stock.token.asset);
  const paths = await pathsOf(exchanges.books, { from, amount: stock.swapped, to: Asset.native() });
  const [best] = paths
    .filter(({ amount, hops }) => amount > 0n && hops.every((hop) => isAllowedHop(nameOf(hop), policy)))
    .toSorted((one, other) => (one.amount > other.amount ? -1 : 1));
  // In the reference's words.
  if (best === undefined) throw new MarketFailure(`No path found for conversion${detourOf(paths.length)}`);
  const least = leastOf(best.amount, swapping);
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
