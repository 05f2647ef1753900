import { Asset, type xdr } from '@stellar/stellar-sdk/base';
import { amountOf } from '../../../domain/amount.ts';
import { type AppError, invalidRequest } from '../../../domain/errors.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { StellarPolicy } from '../configuration/policy.ts';
import { accountOfMuxed, readEnvelope } from '../message/transaction-envelope.ts';
import { getAccount, getSpendableBalance } from '../rpc-calls.ts';
import type { FeeBumpRequest } from '../schema.ts';
import { assertWithinLimit, type FeeToken, feeTokenOfAsset } from './asset.ts';
import { unitsText, withMargin, withoutTolerance } from './figures.ts';
import { type OrderBooks, quoteTokensFor } from './horizon.ts';

/** A payment to the relayer within a user's transaction. */
interface Payment {
  from: string;
  amount: bigint;
  asset: Asset;
}

/**
 * The only payment of a transaction to the relayer.
 * @throws AppError `INVALID_REQUEST` where there is none, or more than one
 */
export function paymentIn({ operations, sourceAccount }: xdr.Transaction, relayer: string): Payment {
  const found = operations.flatMap(({ body, sourceAccount: own }): Payment[] => {
    if (body.type !== 'payment' || accountOfMuxed(body.paymentOp.destination) !== relayer) return [];
    const { amount, asset } = body.paymentOp;
    return [{ from: accountOfMuxed(own ?? sourceAccount), amount, asset: Asset.fromOperation(asset) }];
  });
  const [payment] = found;
  if (payment === undefined || found.length > 1) {
    throw invalidRequest(`Exactly one payment to the relayer is needed, and there are ${found.length}`);
  }
  return payment;
}

/**
 * Checks that a user's signed transaction pays what the relayer asks for its fee, by a new quote. The payment may be
 * too low only by as much as prices may move.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function assertPaid(
  read: ReadFromEndpoint,
  { inner, max_fee: fee }: FeeBumpRequest,
  relayer: string,
  policy: StellarPolicy,
  books: OrderBooks,
): Promise<void> {
  const { from, amount, asset } = paymentIn(readEnvelope(inner).transaction, relayer);
  const token = feeTokenOfAsset(asset, policy);
  assertWithinLimit(token, amount);
  const price = await quoteTokensFor(books, asset, withMargin(amountOf(fee), policy.feeMarginPercentage));
  const least = withoutTolerance(price, token.allowed?.slippage ?? policy.slippagePercentage);
  if (amount < least) {
    throw invalidRequest(`Insufficient fee payment: ${amount} of ${token.name} is paid, and ${price} is asked`);
  }
  await assertHeld(read, from, token, amount);
  if (!asset.isNative() && (await getSpendableBalance(read, relayer, asset)) === null) {
    throw invalidRequest(`The relayer has no trust line for ${token.name}`);
  }
}

/** @throws AppError `INVALID_REQUEST` in the reference's words, where the user lacks what is to be paid */
export async function assertHeld(read: ReadFromEndpoint, user: string, { asset, name }: FeeToken, tokens: bigint) {
  const held = asset.isNative()
    ? ((await getAccount(read, user)).account?.balance ?? 0n)
    : ((await getSpendableBalance(read, user, asset)) ?? 0n);
  if (held < tokens) throw insufficientTokenError({ name }, held, tokens);
}

/** In the reference's words. */
export function insufficientTokenError({ name }: Pick<FeeToken, 'name'>, held: bigint, tokens: bigint): AppError {
  const [has, needs] = [unitsText(held), unitsText(tokens)];
  return invalidRequest(`Insufficient balance: user has ${has} ${name} but needs ${needs} ${name} for transaction fee`);
}
