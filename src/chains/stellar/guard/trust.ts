import { Asset, type xdr } from '@stellar/stellar-sdk/base';
import type { StellarPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { accountOf } from '../message/transaction-envelope.ts';

/** There is no higher limit of what an account holds of an asset. */
const ALL = 2n ** 63n - 1n;

/**
 * The assets that a transaction of the relayer's own makes it hold, where it does nothing else: those in which its users
 * pay, without a limit, and for the least fee. Undefined for a transaction that does more.
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
