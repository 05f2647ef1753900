import type { xdr } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { StellarPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { usualFee } from '../provider.ts';
import { assertWithinLimit, type FeeToken } from './asset.ts';
import { withMargin } from './figures.ts';
import { type OrderBooks, tokensFor } from './horizon.ts';

/** The price of a transaction that a user has the relayer pay for. */
export interface Price {
  /** What the user's own transaction has to bid, in stroops, its payment included. */
  inner: bigint;
  /** What the relayer asks for the transaction, in stroops. */
  stroops: bigint;
  /** The same in the token's smallest unit. */
  tokens: bigint;
}

/**
 * The price of a transaction that still lacks its payment. It is what places usually cost by now, for each operation,
 * for the payment, and for the bump itself.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function priceOf(
  read: ReadOne,
  { operations }: xdr.Transaction,
  token: FeeToken,
  policy: StellarPolicy,
  books: OrderBooks,
): Promise<Price> {
  const usual = await usualFee(read, 'inclusionFee');
  const each = usual > BASE_FEE ? usual : BASE_FEE;
  const count = BigInt(operations.length) + 1n;
  const stroops = withMargin(each * (count + 1n), policy.feeMargin);
  if (policy.maxFee !== null && stroops > policy.maxFee) throw invalidRequest(`Max fee exceeded: ${policy.maxFee}`);
  const tokens = await tokensFor(books, token.asset, stroops);
  assertWithinLimit(token, tokens);
  return { inner: each * count, stroops, tokens };
}
