import { jsonAmount } from '../../../domain/amount.ts';
import { chainOfLane } from '../../../domain/transaction/lane.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { MarketFailure } from '../../../egress/market-client.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Account, LaneFigures, Preparation, ReadyPreparation } from '../../chain-client.ts';
import { readPolicy } from '../configuration/policy.ts';
import { draftOfOperation } from '../message/draft.ts';
import { newestLedger, prepareDraft } from '../prepare.ts';
import { readFields, type StellarFields } from '../schema.ts';
import { consentFault } from './consents.ts';
import { type Exchanges, strategyFor } from './exchanges.ts';
import { orderBookTrade } from './order-book.ts';
import { soroswapTrade } from './soroswap.ts';
import { stockOf } from './stock.ts';
import type { Swapping, Trade } from './trade.ts';

/** How soon a swap is tried again when there is no offer. */
const AGAIN_MS = 10_000;

/**
 * Finds the price for as much of an asset as may be swapped, and composes the transaction. The transaction takes no
 * more, and brings no less than the policies accept, or it fails. Each attempt has its own amount and price.
 */
export async function prepareSwap(
  rpc: RpcClient,
  exchanges: Exchanges,
  { transaction, asset }: { transaction: Transaction; asset: string },
  account: Account,
  { committed }: LaneFigures,
): Promise<Preparation> {
  const { address: relayer, policies } = account;
  const policy = readPolicy(policies);
  const token = policy.allowedTokens.find((one) => one.asset === asset);
  const strategy = strategyFor(asset, policy.swaps?.strategies ?? []);
  if (policy.feePayer !== 'user' || token === undefined || strategy === undefined) {
    return { kind: 'refused', reason: `The policies have no swap of ${asset} any more` };
  }
  const [latest, stock] = await Promise.all([newestLedger(rpc), rpc.onOne((read) => stockOf(read, relayer, token))]);
  if (stock === undefined) return { kind: 'refused', reason: `Of ${asset} there is nothing to swap` };
  const deadline = BigInt(Math.floor(latest.closedAt / 1_000) + policy.timeoutSeconds);
  const passphrase = chainOfLane(transaction.lane);
  const swapping: Swapping = { rpc, exchanges, policy, stock, relayer, passphrase, deadline };
  const trade = await offered(strategy === 'soroswap' ? soroswapTrade(swapping) : orderBookTrade(swapping));
  if (typeof trade === 'string') return parked(`No swap: ${trade}`);
  // A swap brings lumens, so it need not leave min_balance on the account.
  const asked = { latest, transaction, account, committed, minBalance: 0n };
  const prepared = await prepareDraft(rpc, draftOfOperation(trade.operation, relayer), asked);
  if (prepared.kind === 'ready') return heldAgainst(prepared, trade, swapping);
  const isLate = prepared.kind === 'refused' && prepared.end === 'expired';
  return prepared.kind === 'parked' || isLate ? prepared : parked(prepared.reason);
}

/** The trade that was found, or a text that says why there is none. */
async function offered(finding: Promise<Trade>): Promise<Trade | string> {
  try {
    return await finding;
  } catch (error) {
    if (!(error instanceof MarketFailure)) throw error;
    return error.message;
  }
}

/** The prepared swap, unless it costs more than it brings, or takes more than it should. */
function heldAgainst(prepared: ReadyPreparation, trade: Trade, { stock, relayer }: Swapping): Preparation {
  const { promised, least, operation } = trade;
  const fields = readFields(prepared.fields);
  if (fields === undefined) throw new TypeError('what is ready has its fields');
  if (prepared.cost >= least) return parked(`The swap brings ${least} stroops and costs ${prepared.cost}`);
  const given = { relayer, token: stock.token.asset, amount: stock.swapped };
  const fault = fields.contract === undefined ? undefined : consentFault(fields.contract.consents, given);
  if (fault !== undefined) return { kind: 'refused', reason: `The swap is not signed: ${fault}` };
  const swap = {
    operation: operation.toXdr('base64'),
    given: jsonAmount(stock.swapped),
    promised: jsonAmount(promised),
    least: jsonAmount(least),
  };
  return { ...prepared, fields: { ...fields, swap } satisfies StellarFields };
}

function parked(reason: string): Preparation {
  return { kind: 'parked', reason, cause: 'price', retryInMs: AGAIN_MS };
}
