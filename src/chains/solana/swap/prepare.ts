import { jsonAmount } from '../../../domain/amount.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { LaneCommitments, ReadyPreparation, RelayerAccount, TransactionPreparation } from '../../chain-client.ts';
import {
  type AllowedToken,
  MAX_TRANSACTION,
  readPolicy,
  type SolanaPolicy,
  type SwapPolicy,
} from '../configuration/policy.ts';
import { transactionErrorText } from '../errors.ts';
import { messageFee } from '../fees.ts';
import { programsOf } from '../guard/policies.ts';
import { lastValidHeight } from '../inclusion/blockhash-lifetime.ts';
import { encodeMessage } from '../message/compiled-message.ts';
import { resolveLookupTables } from '../message/lookup-tables.ts';
import { transactionSize } from '../message/transaction.ts';
import { WRAPPED_SOL } from '../programs.ts';
import { getAccounts, getBalance } from '../rpc-calls.ts';
import type { SolanaFields } from '../schema.ts';
import { readMint } from '../tokens/mint.ts';
import { readWritableTokenAccounts, type SwapAllowance, swapFault } from './guard.ts';
import { swapOffer, ultraOffer } from './jupiter.ts';
import { composeSwap, maxSwapFee, planUltraOrder, type SwapContext, type SwapPlan } from './plan.ts';
import { swapBalancesOf } from './swap-balance.ts';

/** How soon a swap is tried again when the market has no offer, or the account too little for the fee. */
const AGAIN_MS = 10_000;

/**
 * Asks the market for an offer for as much of a token as may be swapped. Signs nothing that could take more than that,
 * or bring less than the policies accept. Each attempt has its own amount and price.
 */
export async function prepareSwap(
  rpc: RpcClient,
  market: MarketClient,
  mint: string,
  { address, policies }: RelayerAccount,
  lane: LaneCommitments,
): Promise<TransactionPreparation> {
  const policy = readPolicy(policies);
  const token = policy.allowedTokens.find((one) => one.mint === mint);
  const { swapConfig: swaps } = policy;
  if (swaps === null || token === undefined) return refused(`The policies have no swap of ${mint} any more`);
  return rpc.onOne(async (read) => {
    try {
      return await prepareOn(rpc, read, market, { token, policy, swaps, address, committed: lane.committed });
    } catch (error) {
      if (!(error instanceof MarketFailure)) throw error;
      return parked(`No swap: ${error.message}`, 'price');
    }
  });
}

interface SwapRequest {
  token: AllowedToken;
  policy: SolanaPolicy;
  swaps: SwapPolicy;
  address: string;
  committed: bigint;
}

async function prepareOn(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  market: MarketClient,
  { token, policy, swaps, address, committed }: SwapRequest,
): Promise<TransactionPreparation> {
  const [[stock], [wrapped], funds] = await Promise.all([
    swapBalancesOf(read, address, [token]),
    getAccounts(read, [WRAPPED_SOL]),
    getBalance(read, address),
  ]);
  const native = readMint(WRAPPED_SOL, wrapped);
  if (stock === undefined) return refused(`Of ${token.mint} there is nothing to swap`);
  if (native === undefined) return refused('This chain has no wrapped SOL');
  const isOwn = swaps.strategy === 'jupiter-swap';
  const offer = isOwn ? await swapOffer(market, address, stock, swaps) : await ultraOffer(market, address, stock);
  const swapping = { relayer: address, stock, offer, policy, swaps, funds, committed, wrapped: native };
  const looked = await resolveLookupTables(read, offer.transaction.message);
  if (looked.kind === 'fault') return refused(looked.reason);
  const { message } = offer.transaction;
  const keys = [...message.keys, ...looked.addresses];
  const own = await readWritableTokenAccounts(read, message, keys, address);
  if (typeof own === 'string') return unsignable(own);
  const fault = swapFault(message, keys, own, allowanceOf(swapping));
  if (fault !== undefined) return unsignable(fault);
  const plan = isOwn
    ? await composeSwap(read, swapping, own, looked.addresses)
    : await planUltraOrder(read, swapping, own, keys);
  return typeof plan === 'string' ? unsignable(plan) : ready(rpc, read, swapping, plan);
}

function allowanceOf({ relayer, stock, offer, swaps }: SwapContext): SwapAllowance {
  const isAsIs = swaps.strategy === 'jupiter-ultra';
  return { relayer, source: stock.account, given: stock.swapped, least: offer.least, isAsIs };
}

async function ready(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  swapping: SwapContext,
  plan: SwapPlan,
): Promise<TransactionPreparation> {
  const { message, tried, rent, lent } = plan;
  const size = transactionSize(message);
  if (size > MAX_TRANSACTION) return refused(`The swap is a transaction of ${size} bytes`);
  const bytes = encodeMessage(message);
  if (tried.error !== null) {
    const context = { logs: tried.logs, programs: programsOf(message), errors: [] };
    return parked(`Simulation failed: ${transactionErrorText(tried.error, context)}`, 'price');
  }
  const fee = await messageFee(read, message, bytes);
  const { funds, committed } = swapping;
  const most = maxSwapFee(swapping);
  if (fee > most) return refused(`Policy violation: Fee amount ${fee} exceeds max allowed fee amount ${most}`);
  const { least } = swapping.offer;
  if (fee + rent - lent >= least)
    return parked(`The swap brings ${least} lamports and costs ${fee + rent - lent}`, 'price');
  const cost = fee + rent;
  // A swap brings SOL, so it need not leave min_balance on the account.
  if (funds < cost + committed) {
    return parked(`The swap costs ${cost} lamports, of ${funds} with ${committed} under way`, 'balance');
  }
  const last = await lastValidHeight(rpc, read, plan.lastValidBlockHeight);
  return { kind: 'ready', fields: { ...fieldsOf(swapping, plan, bytes, { fee, rent, last }) }, cost, anchor: NONE };
}

const NONE = { kind: 'none' } as const satisfies ReadyPreparation['anchor'];

function fieldsOf(
  { stock, offer }: SwapContext,
  { slot }: SwapPlan,
  bytes: Buffer,
  { fee, rent, last }: { fee: bigint; rent: bigint; last: bigint },
): SolanaFields {
  return {
    message: bytes.toString('base64'),
    signatures: [''],
    last_valid_block_height: jsonAmount(last),
    slot: jsonAmount(slot),
    fee: jsonAmount(fee),
    ...(rent === 0n ? {} : { rent: jsonAmount(rent) }),
    swap: {
      mint: stock.token.mint,
      given: jsonAmount(stock.swapped),
      promised: jsonAmount(offer.promised),
      least: jsonAmount(offer.least),
      ...(offer.requestId === undefined ? {} : { request_id: offer.requestId }),
    },
  };
}

function parked(reason: string, cause: 'price' | 'balance'): TransactionPreparation {
  return { kind: 'parked', reason, cause, retryInMs: AGAIN_MS };
}

function unsignable(reason: string): TransactionPreparation {
  return refused(`What the market built is not signed: ${reason}`);
}

function refused(reason: string): TransactionPreparation {
  return { kind: 'refused', reason };
}
