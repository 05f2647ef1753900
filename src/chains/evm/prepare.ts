import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { Clock } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import { isNodeError, type ReadOne, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Account } from '../account.ts';
import type { LaneFigures, ParkedPreparation, Preparation, ReadyPreparation } from '../chain-client.ts';
import { answersInTime, figureOfAll, refusedAlone, unlessRefusedAlone } from '../quorum.ts';
import type { EvmSettings } from './configuration/network.ts';
import { type EvmPolicy, readPolicy } from './configuration/policy.ts';
import { capPrice, floorAbove, mostPerGas, type Price, priceFields, priceOf } from './fees.ts';
import { policyViolation } from './form/policy-checks.ts';
import { leastGas } from './price/gas.ts';
import { type Market, type MarketReading, openMarket, readMarket } from './price/market.ts';
import { createPriceGuard } from './price/price-guard.ts';
import { dataFee } from './price/rollup.ts';
import { freshShared } from './price/single-flight.ts';
import { balance, estimateGas, onlyOn } from './provider.ts';
import { type EvmFields, type EvmRequest, estimateCall, readFields, readRequest, storedFields } from './schema.ts';

/** What preparing needs of the network's live side. */
export interface PrepareParts {
  /** Reads a figure from one node. With `all`: from all nodes, and takes the middle one, the lower of two. */
  figure(use: (read: ReadOne) => Promise<bigint>, of?: 'all'): Promise<bigint>;
  settings: EvmSettings;
  /** The chain id of the transaction's lane. */
  chainId: bigint;
  market: MarketReading;
  /** The balance from one node, or from all. Never of a state older than the call. */
  balance(address: string, of?: 'all'): Promise<bigint>;
  endpoints: Pick<RpcClient, 'endpointCount' | 'onAll'>;
}

/** Opens the parts of one chain. Only endpoints that serve that chain count. */
export function openPrepareParts(rpc: RpcClient, settings: EvmSettings, chainId: bigint, clock: Clock): PrepareParts {
  const own = onlyOn(chainId, rpc);
  const byOne = freshShared((address: string) => own.onOne((one) => balance(one, address)));
  const byAll = freshShared(async (address: string) => {
    const told = await figureOfAll(own, (one) => balance(one, address), 'higher');
    return told ?? byOne(address);
  });
  const read: ReadOne = (method, params, parse) => own.onOne((one) => one(method, params, parse));
  const guarded = createPriceGuard(clock, {
    one: () => own.onOne((one) => readMarket(one, settings)),
    all: () => answersInTime(own.onAll((one) => readMarket(one, settings))),
  });
  return {
    figure: async (use, of) => (of === 'all' ? await figureOfAll(own, use, 'lower') : undefined) ?? use(read),
    settings,
    chainId,
    market: openMarket(settings, clock, guarded),
    balance: (address, of) => (of === 'all' ? byAll(address) : byOne(address)),
    endpoints: own,
  };
}

/** The pause before a transaction that waits for a lower price or for funds is tried again. */
const PARKED_FOR_MS = 10_000;

/**
 * Decides a transaction's gas limit and price. Checks that the account's policies allow the transaction and that the
 * balance can pay for it.
 */
export async function prepare(
  parts: PrepareParts,
  transaction: Transaction,
  account: Account,
  lane: LaneFigures,
): Promise<Preparation> {
  const violation = policyViolation(readRequest(transaction.request), account);
  if (violation !== undefined) return { kind: 'refused', reason: violation };
  return unlessSaidTwice(parts, (from) => prepareOnce(from, transaction, account, lane));
}

/**
 * Decides by one node's figures, and confirms two outcomes with the other nodes. A refusal ends a transaction, and a
 * lack of funds makes it wait. A refusal needs a second node. Both outcomes are decided again by the figures of all
 * nodes, so that no node alone says what is paid.
 */
export async function unlessSaidTwice<T extends { kind: string; cause?: ParkedPreparation['cause']; reason?: string }>(
  parts: PrepareParts,
  decide: (parts: PrepareParts) => Promise<T>,
): Promise<T | ParkedPreparation> {
  const decided = await decide(parts);
  if (decided.kind !== 'refused' && decided.cause !== 'balance') return decided;
  const { endpoints } = parts;
  const areSeveral = endpoints.endpointCount > 1;
  if (decided.kind === 'refused' && areSeveral) {
    const held = await unlessRefusedAlone(decided, endpoints, (read) => decide(partsOf(read, parts)));
    if (held.kind === 'refused' || held.kind === 'parked') return held;
  }
  const again = await decide({
    ...parts,
    figure: (use) => parts.figure(use, 'all'),
    market: () => parts.market('all'),
    balance: (address) => parts.balance(address, 'all'),
  });
  return again.kind === 'refused' && areSeveral ? refusedAlone(again) : again;
}

/** The same parts, with every figure read from one node. */
function partsOf(read: ReadOne, parts: PrepareParts): PrepareParts {
  return {
    ...parts,
    figure: (use) => use(read),
    market: () => readMarket(read, parts.settings),
    balance: (address) => balance(read, address),
  };
}

async function prepareOnce(
  parts: PrepareParts,
  transaction: Transaction,
  account: Account,
  lane: LaneFigures,
): Promise<Preparation> {
  const request = readRequest(transaction.request);
  const policy = readPolicy(account.policies);
  const [market, gas, funds] = await Promise.all([
    parts.market(),
    gasFor(parts, request, policy, account.address),
    parts.balance(account.address),
  ]);

  const gasLimit = withinBlock(gas, market);
  const tooMuchGas = beyondBlock(gasLimit, market);
  if (tooMuchGas !== undefined) return { kind: 'refused', reason: tooMuchGas };
  const tooDear = aboveCap(policy, market);
  if (tooDear !== undefined) return parked(tooDear);
  if (market.doubt !== undefined && request.price.kind === 'speed') return parked(market.doubt);
  const price = capPrice(priceOf(request.price, market, policy, parts.settings.averageBlocktimeMs), policy.gasPriceCap);
  const baseFee = market.block.baseFeePerGas ?? 0n;
  if (mostPerGas(price) < baseFee) {
    // If signed now, it would keep its nonce without being mined, and hold up every transaction behind it.
    return parked(
      `The network's base fee is ${baseFee} wei per gas, more than the ${mostPerGas(price)} that were offered`,
    );
  }
  const unfit = misfit(request, price);
  if (unfit !== undefined) return { kind: 'refused', reason: unfit };
  const ready = await costed(parts, { request: transaction.request, sequence: null }, account, gasLimit, price);
  return shortOfFunds(funds, ready.cost, policy, lane) ?? ready;
}

/** The fields that an attempt is signed with, and the most that it can cost, the fee of its data included. */
export async function costed(
  parts: PrepareParts,
  attempt: Pick<Transaction, 'request' | 'sequence'>,
  account: Account,
  gasLimit: bigint,
  price: Price,
): Promise<ReadyPreparation> {
  const request = readRequest(attempt.request);
  const gas = { chain_id: jsonAmount(parts.chainId), from: account.address, gas_limit: jsonAmount(gasLimit) };
  const fields: EvmFields = { ...gas, ...priceFields(price) };
  const call = estimateCall(request, account.address);
  const extra = await parts.figure((read) => dataFee(read, parts.settings, { ...attempt, fields, call }));
  return {
    kind: 'ready',
    fields: storedFields({ ...fields, ...(extra === 0n ? {} : { data_fee: jsonAmount(extra) }) }),
    cost: mostPerGas(price) * gasLimit + request.value + extra,
  };
}

/** The cost that {@link prepare} found for a transaction; zero for one that was not prepared. */
export function costOf(transaction: Pick<Transaction, 'request' | 'fields'>): bigint {
  const fields = readFields(transaction.fields);
  if (fields === undefined) return 0n;
  const perGas = fields.max_fee_per_gas ?? fields.gas_price ?? 0;
  const gas = amountOf(perGas) * amountOf(fields.gas_limit);
  return gas + amountOf(fields.data_fee ?? 0) + readRequest(transaction.request).value;
}

/**
 * Parks a transaction that the balance cannot pay for. Money that other transactions of the lane may still take does
 * not count. The transaction waits until they are through, or until the account is funded.
 */
export function shortOfFunds(
  funds: bigint,
  cost: bigint,
  policy: EvmPolicy,
  lane: LaneFigures,
): ParkedPreparation | undefined {
  if (funds - lane.committed >= cost + policy.minBalance) return undefined;
  const reserve = policy.minBalance > 0n && funds >= cost;
  const reason = [
    `Insufficient balance: Relayer balance ${funds} is insufficient to cover ${cost}`,
    reserve ? `, with an enforced minimum balance of ${policy.minBalance}` : '',
    lane.committed > 0n ? ` while up to ${lane.committed} may be taken by transactions under way` : '',
  ];
  return parked(reason.join(''), 'balance');
}

export function parked(reason: string, cause: NonNullable<ParkedPreparation['cause']> = 'price'): ParkedPreparation {
  return { kind: 'parked', reason, cause, retryInMs: PARKED_FOR_MS };
}

/** Why no price that the policy allows could be mined now. */
export function aboveCap(policy: EvmPolicy, market: Market): string | undefined {
  const floor = floorAbove(policy.gasPriceCap, market);
  if (floor === undefined) return undefined;
  return `The network asks for ${floor} wei per gas, more than the gas_price_cap of ${policy.gasPriceCap}`;
}

/** Why no block could hold so much gas. Some chains show blocks with a limit of zero, which says nothing. */
export function beyondBlock(gasLimit: bigint, market: Market): string | undefined {
  const { gasLimit: most } = market.block;
  if (most === 0n || gasLimit <= most) return undefined;
  return `Transaction gas limit (${gasLimit}) exceeds block gas limit (${most})`;
}

/** Why the network's prices do not fit the request: an authorization list requires EIP-1559 fees (EIP-7702). */
export function misfit(request: EvmRequest, price: Price): string | undefined {
  if (price.kind !== 'legacy' || request.authorizationList.length === 0) return undefined;
  return 'authorization_list requires EIP-1559 fees, and the network has none';
}

/** The gas that a call needs by estimate, and the gas limit that it gets. */
interface GasNeed {
  used: bigint;
  limit: bigint;
}

/**
 * Lowers a gas limit to the block's limit. Otherwise the reserve on top of an estimate could make a transaction
 * impossible that fits into a block.
 */
export function withinBlock({ used, limit }: GasNeed, market: Market): bigint {
  const most = market.block.gasLimit;
  if (most === 0n || limit <= most) return limit;
  return used > most ? used : most;
}

/** The gas limit of the request, or the node's estimate plus a tenth. */
export async function gasFor(
  parts: PrepareParts,
  request: EvmRequest,
  policy: EvmPolicy,
  from: string,
): Promise<GasNeed> {
  if (request.gasLimit !== null) return { used: request.gasLimit, limit: request.gasLimit };
  const used = policy.estimatesGas ? await estimated(parts, estimateCall(request, from)) : undefined;
  if (used !== undefined) return { used, limit: (used * 110n) / 100n };
  // If there is no estimate, the call most often reverts. It is sent all the same, and the revert shows on chain.
  const fallback = fallbackGasLimit(request);
  return { used: fallback, limit: fallback };
}

/** Undefined if the node answers that it cannot estimate. */
export async function estimated(parts: PrepareParts, call: JsonObject, of?: 'all'): Promise<bigint | undefined> {
  try {
    return await parts.figure((read) => estimateGas(read, call), of);
  } catch (error) {
    if (isNodeError(error)) return undefined;
    throw error;
  }
}

/** The reference's gas limit for a call without an estimate. Never less than nodes ask for. */
function fallbackGasLimit(request: EvmRequest): bigint {
  const usual = usualGas(request.data);
  const needed = leastGas(request);
  return usual > needed ? usual : needed;
}

function usualGas(data: string | null): bigint {
  if (data === null) return 21_000n;
  if (data.startsWith('0xa9059cbb')) return 65_000n;
  if (data.startsWith('0x23b872dd')) return 80_000n;
  return 200_000n;
}
