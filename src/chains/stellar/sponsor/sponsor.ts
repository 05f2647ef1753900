import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { RelayerAccount, Sponsorship } from '../../chain-client.ts';
import { parseRequestForm } from '../../request-form.ts';
import { policyFault, readPolicy, type StellarPolicy, timeoutSecondsOf } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { encodeEnvelope } from '../message/transaction.ts';
import { isSoroban } from '../message/transaction-envelope.ts';
import { latestLedger, usualFee } from '../rpc-calls.ts';
import { assertWithinLimit, type FeeToken, feeTokenOf } from './asset.ts';
import { tokensPerStroopText, unitsText, VALIDITY_SECONDS, withMargin } from './figures.ts';
import type { ForwardMarket } from './forward-price.ts';
import { buildForward, quoteForward } from './forwarding.ts';
import { type OrderBooks, quoteTokensFor } from './horizon.ts';
import { assertHeld } from './payment.ts';
import { type SponsoredForm, sponsoredSchema, type UserDraft, userDraft, withPayment } from './user-draft.ts';

interface SponsorParts {
  /** The endpoints, as far as they serve an account's chain. */
  sideOf(account: RelayerAccount): RpcClient;
  /** The prices and the forwarder for calls of contracts on an account's chain. */
  marketOf(account: RelayerAccount): Promise<ForwardMarket>;
  /** The time from one ledger to the next, in milliseconds. */
  blockTimeMs: number;
  guarded<T>(use: () => Promise<T>): Promise<T>;
}

/** A request, and the node that is asked about it. */
interface SponsorContext {
  read: ReadFromEndpoint;
  account: RelayerAccount;
  form: SponsoredForm;
  policy: StellarPolicy;
  market: ForwardMarket;
  draft: UserDraft;
}

/** The token of a request, and the price. */
interface BumpPrice {
  token: FeeToken;
  price: Price;
}

/** In the reference's words. */
const NOT_USERS = 'Gas abstraction requires fee_payment_strategy: User';

/** Has users pay in tokens for what the relayer pays: the fee of a fee bump, or a call of a contract by a forwarder. */
export function createSponsorship({ sideOf, marketOf, blockTimeMs, guarded }: SponsorParts): Sponsorship {
  /** @param isBuilt false for a quote; the quote of a fee bump binds nobody, and is given under any policy */
  function answer(body: unknown, account: RelayerAccount, isBuilt: boolean): Promise<WireObject> {
    return guarded(async () => {
      const form = parseRequestForm(sponsoredSchema, body);
      const policy = readPolicy(account.policies);
      const market = await marketOf(account);
      return sideOf(account).onOne(async (read) => {
        const draft = await userDraft(read, form, account.address);
        const isCall = isSoroban(draft.transaction);
        if (policy.feePaymentStrategy !== 'user' && (isCall || isBuilt)) throw invalidRequest(NOT_USERS);
        const context: SponsorContext = { read, account, form, policy, market, draft };
        if (!isCall) return isBuilt ? buildBump(context) : quoteBump(context);
        const how = { ...market, policy, blockTimeMs, relayer: account.address };
        return (isBuilt ? buildForward : quoteForward)(read, draft, form.fee_token, how);
      });
    });
  }
  return {
    quote: (body, account) => answer(body, account, false),
    build: (body, account) => answer(body, account, true),
  };
}

async function priceBump({
  read,
  form,
  policy,
  market,
  draft: { user, transaction },
}: SponsorContext): Promise<BumpPrice> {
  const token = feeTokenOf(form.fee_token, policy);
  const price = await sponsoredPriceOf(read, transaction, token, policy, market.books);
  await assertHeld(read, user, token, price.tokens);
  return { token, price };
}

async function quoteBump(context: SponsorContext): Promise<WireObject> {
  const { price } = await priceBump(context);
  return { ...shown(price), conversion_rate: tokensPerStroopText(price.tokens, price.stroops) };
}

async function buildBump(context: SponsorContext): Promise<WireObject> {
  const { read, account, draft, policy } = context;
  const [{ token, price }, { closedAt }] = await Promise.all([priceBump(context), latestLedger(read)]);
  const until = Math.floor(closedAt / 1_000) + Math.min(VALIDITY_SECONDS, timeoutSecondsOf(policy));
  const terms = { fee: price.inner, maxTime: BigInt(until) };
  const built = withPayment(draft.transaction, paymentTo(account.address, token, price.tokens), terms);
  return {
    transaction: encodeEnvelope(built, []),
    ...shown(price),
    fee_in_stroops: String(price.stroops),
    fee_token: token.name,
    valid_until: wireTime(until * 1_000),
  };
}

function shown({ tokens }: Price): { fee_in_token: string; fee_in_token_ui: string } {
  return { fee_in_token: String(tokens), fee_in_token_ui: unitsText(tokens) };
}

function paymentTo(relayer: string, { asset }: FeeToken, amount: bigint): xdr.Operation {
  const destination = Keypair.fromPublicKey(relayer).xdrMuxedAccount();
  const paymentOp = new xdr.PaymentOp({ destination, asset: asset.toXdrObject(), amount });
  return new xdr.Operation({ sourceAccount: null, body: xdr.OperationBody.payment(paymentOp) });
}

/** The price of a transaction that a user has the relayer pay for. */
interface Price {
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
export async function sponsoredPriceOf(
  read: ReadFromEndpoint,
  { operations }: xdr.Transaction,
  token: FeeToken,
  policy: StellarPolicy,
  books: OrderBooks,
): Promise<Price> {
  const usual = await usualFee(read, 'inclusionFee');
  const each = usual > BASE_FEE ? usual : BASE_FEE;
  const count = BigInt(operations.length) + 1n;
  const stroops = withMargin(each * (count + 1n), policy.feeMarginPercentage);
  const tooDear = policyFault(policy, { fee: stroops });
  if (tooDear !== undefined) throw invalidRequest(tooDear.reason);
  const tokens = await quoteTokensFor(books, token.asset, stroops);
  assertWithinLimit(token, tokens);
  return { inner: each * count, stroops, tokens };
}
