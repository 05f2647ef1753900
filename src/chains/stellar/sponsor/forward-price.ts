import { amountOf, jsonAmount } from '../../../domain/amount.ts';
import { AppError, invalidRequest } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { ReadyPreparation, RelayerAccount, TransactionPreparation } from '../../chain-client.ts';
import { readPolicy, type StellarPolicy } from '../configuration/policy.ts';
import { BASE_FEE, preparedResourceFee } from '../fees.ts';
import { draftTransaction } from '../message/draft.ts';
import { type FeeForward, feeForwardOf } from '../message/forward.ts';
import { readEnvelope } from '../message/transaction-envelope.ts';
import { contractNeeds } from '../price/contract-call.ts';
import { latestLedger, usualFee } from '../rpc-calls.ts';
import { type ForwardRequest, readChainFields } from '../schema.ts';
import { assertWithinLimit, type ContractToken, contractTokenOf } from './asset.ts';
import { withMargin, withoutTolerance } from './figures.ts';
import { type OrderBooks, quoteTokensFor } from './horizon.ts';

/** What pricing a call of a contract that is paid in a token needs. */
export interface ForwardMarket {
  books: OrderBooks;
  /** The network's fee forwarder; null where it names none. */
  forwarder: string | null;
  passphrase: string;
}

/**
 * The fee forwarder of the network, which operators trust with users' consents. @throws AppError `INVALID_REQUEST`
 * where there is none
 */
export function forwarderOf({ forwarder, books }: ForwardMarket): string {
  if (forwarder !== null) return forwarder;
  // In the reference's first words.
  throw invalidRequest(`FeeForwarder address not configured: set fee_forwarder of the network ${books.network}`);
}

/** What a user has to pay for a call that costs the relayer this many stroops, in the token's smallest unit. */
export function forwardPriceInToken(
  { books }: ForwardMarket,
  { asset }: ContractToken,
  { feeMarginPercentage }: StellarPolicy,
  stroops: bigint,
): Promise<bigint> {
  return quoteTokensFor(books, asset, withMargin(stroops, feeMarginPercentage));
}

/** What a contract's call pays for its place in a ledger by now, in stroops. */
export async function sorobanInclusionFee(read: ReadFromEndpoint): Promise<bigint> {
  const usual = await usualFee(read, 'sorobanInclusionFee');
  return usual > BASE_FEE ? usual : BASE_FEE;
}

/**
 * Has a node run a call with the user's consent, without effect, and checks that the user's fee covers the current
 * cost. The fee may be too low only by as much as prices may move.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function assertForwardPaid(
  read: ReadFromEndpoint,
  request: ForwardRequest,
  { address, policies }: RelayerAccount,
  market: ForwardMarket,
): Promise<void> {
  const policy = readPolicy(policies);
  const { forward, token } = await boundTo(read, request, policy, market);
  const { sequence } = await latestLedger(read);
  const needs = await contractNeeds(read, draftTransaction(request, address), sequence);
  if (needs.kind !== 'needs') throw invalidRequest('reason' in needs ? needs.reason : NOT_NOW);
  const price = await forwardPriceInToken(market, token, policy, needs.fee + (await sorobanInclusionFee(read)));
  if (forward.fee < leastOf(price, token, policy)) throw invalidRequest(insufficient(forward, price));
}

/**
 * Limits a prepared call to what the user pays by now: the bid for its place in a ledger is lowered, or the call
 * refused.
 */
export async function limitToPayment(
  read: ReadFromEndpoint,
  prepared: TransactionPreparation,
  request: ForwardRequest,
  policies: JsonObject,
  market: ForwardMarket,
): Promise<TransactionPreparation> {
  // Archived entries are restored in a transaction of the relayer's own, which no user pays for.
  if (prepared.kind === 'first') return { kind: 'refused', reason: prepared.reason };
  if (prepared.kind !== 'ready') return prepared;
  try {
    return await paidFor(read, prepared, request, readPolicy(policies), market);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'INVALID_REQUEST') throw error;
    return { kind: 'refused', reason: error.message };
  }
}

async function paidFor(
  read: ReadFromEndpoint,
  prepared: ReadyPreparation,
  request: ForwardRequest,
  policy: StellarPolicy,
  market: ForwardMarket,
): Promise<TransactionPreparation> {
  const fields = readChainFields(prepared.fields);
  if (fields === undefined) throw new TypeError('prepared without fields');
  const { forward, token } = await boundTo(read, request, policy, market);
  const cost = amountOf(fields.fee);
  const price = await forwardPriceInToken(market, token, policy, cost);
  const least = leastOf(price, token, policy);
  if (forward.fee >= least) return prepared;
  const worth = (cost * forward.fee) / least;
  if (worth < preparedResourceFee(fields) + BASE_FEE) return { kind: 'refused', reason: insufficient(forward, price) };
  return { ...prepared, fields: { ...fields, fee: jsonAmount(worth) }, cost: worth };
}

/**
 * The call, and the token that it is paid in. The call has to be one of the network's forwarder, and the policies have
 * to allow the token.
 */
async function boundTo(
  read: ReadFromEndpoint,
  request: ForwardRequest,
  policy: StellarPolicy,
  market: ForwardMarket,
): Promise<{ forward: FeeForward; token: ContractToken }> {
  const forward = feeForwardOf(readEnvelope(request.forward).transaction);
  if (forward === undefined) throw new TypeError('not a call of a forwarder that was accepted');
  const own = forwarderOf(market);
  if (forward.forwarder !== own) {
    throw invalidRequest(`operations.0: it calls ${forward.forwarder}, not the fee forwarder ${own} of the network`);
  }
  const token = await contractTokenOf(read, forward.token, policy, market.passphrase);
  assertWithinLimit(token, forward.mostFee);
  return { forward, token };
}

function leastOf(price: bigint, { allowed }: ContractToken, { slippagePercentage }: StellarPolicy): bigint {
  return withoutTolerance(price, allowed?.slippage ?? slippagePercentage);
}

function insufficient({ fee, token }: FeeForward, price: bigint): string {
  return `Insufficient fee payment: fee_amount is ${fee} of ${token}, and ${price} is asked`;
}

const NOT_NOW = 'It cannot be sent now';
