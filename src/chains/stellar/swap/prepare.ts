import { xdr } from '@stellar/stellar-sdk/base';
import { amountOf, jsonAmount } from '../../../domain/amount.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import { MarketFailure } from '../../../egress/market-client.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { chainOfLane } from '../../../features/transactions/records/lane.ts';
import type { Transaction } from '../../../features/transactions/records/transaction.ts';
import { isFinal } from '../../../features/transactions/records/transaction-state.ts';
import type { WebhookEventName } from '../../../features/webhooks/records/webhook-event.ts';
import type { LaneCommitments, ReadyPreparation, RelayerAccount, TransactionPreparation } from '../../chain-client.ts';
import { readPolicy, timeoutSecondsOf } from '../configuration/policy.ts';
import { parseAuthorizationEntry } from '../message/authorization.ts';
import { addressValue, amountValue } from '../message/contract.ts';
import { draftOfOperation } from '../message/draft.ts';
import { medianLatestLedger, prepareDraft } from '../prepare.ts';
import { readChainFields, readStoredRequest, type StellarFields } from '../schema.ts';
import { type SwapExchanges, swapStrategyFor } from './exchanges.ts';
import { soroswapTrade } from './soroswap.ts';
import { swapBalanceOf } from './swap-balance.ts';
import { orderBookTrade, type SwapContext, type SwapTrade } from './trade.ts';

/** How soon a swap is tried again when there is no offer. */
const AGAIN_MS = 10_000;

/**
 * Finds the price for as much of an asset as may be swapped, and composes the transaction. The transaction takes no
 * more, and brings no less than the policies accept, or it fails. Each attempt has its own amount and price.
 */
export async function prepareSwap(
  rpc: RpcClient,
  exchanges: SwapExchanges,
  { transaction, asset }: { transaction: Transaction; asset: string },
  account: RelayerAccount,
  { committed }: LaneCommitments,
): Promise<TransactionPreparation> {
  const { address: relayer, policies } = account;
  const policy = readPolicy(policies);
  const token = policy.allowedTokens.find((one) => one.asset === asset);
  const strategy = swapStrategyFor(asset, policy.swapConfig?.strategies ?? []);
  if (policy.feePaymentStrategy !== 'user' || token === undefined || strategy === undefined) {
    return { kind: 'refused', reason: `The policies have no swap of ${asset} any more` };
  }
  const [latest, stock] = await Promise.all([
    medianLatestLedger(rpc),
    rpc.onOne((read) => swapBalanceOf(read, relayer, token)),
  ]);
  if (stock === undefined) return { kind: 'refused', reason: `Of ${asset} there is nothing to swap` };
  const deadline = BigInt(Math.floor(latest.closedAt / 1_000) + timeoutSecondsOf(policy));
  const passphrase = chainOfLane(transaction.lane);
  const swapping: SwapContext = { rpc, exchanges, policy, stock, relayer, passphrase, deadline };
  const trade = await tradeOrReason(strategy === 'soroswap' ? soroswapTrade(swapping) : orderBookTrade(swapping));
  if (typeof trade === 'string') return parked(`No swap: ${trade}`);
  // A swap brings lumens, so it need not leave min_balance on the account.
  const context = { latest, transaction, account, committed, minBalance: 0n };
  const prepared = await prepareDraft(rpc, draftOfOperation(trade.operation, relayer), context);
  if (prepared.kind === 'ready') return checkedSwap(prepared, trade, swapping);
  const isLate = prepared.kind === 'refused' && prepared.end === 'expired';
  return prepared.kind === 'parked' || isLate ? prepared : parked(prepared.reason);
}

/** The trade that was found, or a text that says why there is none. */
async function tradeOrReason(finding: Promise<SwapTrade>): Promise<SwapTrade | string> {
  try {
    return await finding;
  } catch (error) {
    if (!(error instanceof MarketFailure)) throw error;
    return error.message;
  }
}

/** The prepared swap, unless it costs more than it brings, or takes more than it should. */
function checkedSwap(
  prepared: ReadyPreparation,
  trade: SwapTrade,
  { stock, relayer }: SwapContext,
): TransactionPreparation {
  const { promised, least, operation } = trade;
  const fields = readChainFields(prepared.fields);
  if (fields === undefined) throw new TypeError('what is ready has its fields');
  if (prepared.cost >= least) return parked(`The swap brings ${least} stroops and costs ${prepared.cost}`);
  const given = { relayer, token: stock.token.asset, amount: stock.swapped };
  const fault = fields.contract === undefined ? undefined : swapConsentFault(fields.contract.consents, given);
  if (fault !== undefined) return { kind: 'refused', reason: `The swap is not signed: ${fault}` };
  const swap = {
    operation: operation.toXdr('base64'),
    given: jsonAmount(stock.swapped),
    promised: jsonAmount(promised),
    least: jsonAmount(least),
  };
  return { ...prepared, fields: { ...fields, swap } satisfies StellarFields };
}

function parked(reason: string): TransactionPreparation {
  return { kind: 'parked', reason, cause: 'price', retryInMs: AGAIN_MS };
}

/** What the relayer gives in a swap. */
interface Transfer {
  relayer: string;
  token: string;
  amount: bigint;
}

/**
 * Why consents that a simulation has found are refused; undefined where they are what a swap needs. A swap needs
 * consent to the call itself, which is checked elsewhere, and below it to one transfer of the given amount of the
 * token. A path could lead through a contract that asks for more while it is called.
 */
export function swapConsentFault(
  consents: readonly string[],
  { relayer, token, amount }: Transfer,
): string | undefined {
  const [consent, ...others] = consents.map((text) => parseAuthorizationEntry(text));
  if (consent === undefined || others.length > 0) return `it needs ${consents.length} authorizations, not one`;
  const { credentials, rootInvocation } = consent;
  if (credentials.type !== 'sorobanCredentialsSourceAccount') return 'it needs another account’s authorization';
  const [transfer, ...further] = rootInvocation.subInvocations;
  if (transfer === undefined) return 'it transfers none of the token';
  if (further.length > 0 || transfer.subInvocations.length > 0)
    return 'its authorization covers more than one transfer';
  const { function: call } = transfer;
  if (call.type !== 'sorobanAuthorizedFunctionTypeContractFn')
    return 'its authorization covers the creation of a contract';
  const { contractAddress, functionName, args } = call.contractFn;
  const [from, to, taken, ...more] = args;
  const isTransfer = functionName.toString() === 'transfer' && more.length === 0 && to?.type === 'scvAddress';
  const isOfToken = same(xdr.ScVal.scvAddress(contractAddress), addressValue(token));
  if (!isTransfer || !isOfToken) return `it calls ${functionName.toString()}, and not the token’s transfer`;
  if (!same(from, addressValue(relayer))) return 'it transfers from somebody else';
  return same(taken, amountValue(amount)) ? undefined : `it transfers another amount than ${amount}`;
}

const same = (one: xdr.ScVal | undefined, other: xdr.ScVal): boolean => one?.toXdr('base64') === other.toXdr('base64');

/**
 * The event of a swap, in the reference's form: that it is signed, and how it ended. Undefined for other transactions.
 * The destination amount is the price that was found. The slippage bounds how much less arrives.
 */
export function swapEvent(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined {
  const { status } = transaction;
  const event = isFinal(status) ? 'stellar_dex' : status === 'sent' ? 'stellar_dex_queued' : undefined;
  const result = event && swapResult(transaction);
  return event && result && { event, payload: { payload_type: 'stellar_dex', swap_results: [result] } };
}

function swapResult({ request, fields, hash, status, statusReason }: Transaction): WireObject | undefined {
  const parsed = readStoredRequest(request);
  if (!('swap' in parsed)) return undefined;
  const made = readChainFields(fields)?.swap;
  const isInVain = isFinal(status) && status !== 'confirmed';
  return {
    mint: parsed.swap.asset,
    source_amount: made === undefined ? 0n : amountOf(made.given),
    destination_amount: made === undefined || isInVain ? 0n : amountOf(made.promised),
    transaction_signature: hash ?? '',
    error: isInVain ? (statusReason ?? status) : null,
  };
}
