import { Asset } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import { providerFailedError } from '../../served-chain.ts';
import { isAccountAddress } from '../address.ts';
import { parseHorizonAmount, unitsText } from './figures.ts';

/** Where a network's order books are read. */
export interface OrderBooks {
  network: string;
  /** The network's Horizon; null where it names none. */
  horizon: MarketClient | null;
}

/** A way through the order books. */
export interface PaymentPath {
  /** What arrives, in the smallest unit. */
  amount: bigint;
  /** The assets that are traded on the way, between the first and the last. */
  hops: readonly Asset[];
}

/** An amount of an asset, to be traded for another asset. */
export interface PathQuery {
  from: Asset;
  amount: bigint;
  to: Asset;
}

/**
 * What some lumens are worth in another asset, by the best path through the order books.
 * @throws AppError `INVALID_REQUEST` where there is no path, `PROVIDER_FAILED` where no market tells
 */
export async function quoteTokensFor(books: OrderBooks, asset: Asset, stroops: bigint): Promise<bigint> {
  if (asset.isNative()) return stroops;
  let best: PaymentPath | undefined;
  try {
    [best] = await findPaymentPaths(books, { from: Asset.native(), amount: stroops, to: asset });
  } catch (error) {
    if (!(error instanceof MarketFailure)) throw error;
    throw providerFailedError(books.network, error.message, error);
  }
  // In the reference's words.
  if (best === undefined || best.amount === 0n) throw invalidRequest('No path found for conversion');
  return best.amount;
}

/**
 * The paths of an exchange, the best first.
 * @throws MarketFailure where no market tells
 */
export async function findPaymentPaths(
  { horizon }: OrderBooks,
  { from, amount, to }: PathQuery,
): Promise<PaymentPath[]> {
  if (horizon === null) throw new MarketFailure('it has no horizon_url, from which prices come');
  const query = {
    source_amount: unitsText(amount),
    ...(from.isNative()
      ? { source_asset_type: 'native' }
      : {
          source_asset_type: from.getAssetType(),
          source_asset_code: from.code,
          source_asset_issuer: from.issuer ?? '',
        }),
    destination_assets: to.isNative() ? 'native' : `${to.code}:${to.issuer}`,
  };
  try {
    return pathsIn(await horizon.get('/paths/strict-send', query), to);
  } catch (error) {
    if (!(error instanceof MarketFailure || error instanceof TypeError)) throw error;
    throw new MarketFailure(`Horizon: ${error.message}`, { cause: error });
  }
}

function pathsIn(answer: Json, to: Asset): PaymentPath[] {
  const embedded = isObject(answer) ? answer['_embedded'] : undefined;
  const records = isObject(embedded) ? embedded['records'] : undefined;
  if (!Array.isArray(records)) throw new TypeError('not a list of paths');
  return records.map((record): PaymentPath => {
    const { path, destination_amount: amount } = isObject(record) ? record : {};
    if (!isObject(record) || !assetIn(record, 'destination_').equals(to)) throw new TypeError('not the asked asset');
    if (path !== undefined && !Array.isArray(path)) throw new TypeError('not a path');
    return {
      amount: parseHorizonAmount(amount),
      hops: (path ?? []).map((hop) => assetIn(isObject(hop) ? hop : {}, '')),
    };
  });
}

function assetIn(reply: JsonObject, prefix: string): Asset {
  const [type, code, issuer] = ['type', 'code', 'issuer'].map((name) => reply[`${prefix}asset_${name}`]);
  if (type === 'native') return Asset.native();
  const isCredit = typeof code === 'string' && /^[a-zA-Z0-9]{1,12}$/.test(code);
  if (!isCredit || typeof issuer !== 'string' || !isAccountAddress(issuer)) throw new TypeError('not an asset');
  return new Asset(code, issuer);
}
