import { Asset, type xdr } from '@stellar/stellar-sdk/base';
import type { StellarPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { accountOf } from '../message/transaction-envelope.ts';

/** The highest limit of a trust line. */
const ALL = 2n ** 63n - 1n;

/**
 * The assets for which a transaction of the relayer's own opens trust lines, where it does nothing else. Each has to be
 * an asset in which users pay, without a limit, and the transaction has to bid the least fee. Undefined for any other
 * transaction.
 */
export function trustedBy(
  { operations, fee, sourceAccount }: xdr.Transaction,
  { allowedTokens }: StellarPolicy,
): readonly Asset[] | undefined {
  const relayer = accountOf(sourceAccount);
  const own = operations.filter(({ sourceAccount: source }) => source === null || accountOf(source) === relayer);
  const assets = own.flatMap(({ body }) => assetOf(body) ?? []);
  const isAllowed = (asset: Asset) => allowedTokens.some((token) => token.asset === `${asset.code}:${asset.issuer}`);
  if (assets.length < operations.length || !assets.every(isAllowed)) return undefined;
  return BigInt(fee) > BASE_FEE * BigInt(operations.length) ? undefined : assets;
}

function assetOf(body: xdr.OperationBody): Asset | undefined {
  if (body.type !== 'changeTrust' || body.changeTrustOp.limit !== ALL) return undefined;
  const { line } = body.changeTrustOp;
  return line.type === 'assetTypeCreditAlphanum4' || line.type === 'assetTypeCreditAlphanum12'
    ? Asset.fromOperation(line)
    : undefined;
}
