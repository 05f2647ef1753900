import { amountOf, largest } from '../../../domain/amount.ts';
import type { AttemptPreparation, NewAttempt } from '../../chain-client.ts';
import type { EvmSettings } from '../configuration/network.ts';
import type { EvmPolicy } from '../configuration/policy.ts';
import {
  type Caps,
  capPrice,
  laterPriceOf,
  minimumBump,
  mostPerGas,
  type Price,
  priceOf,
  raiseTo,
  reaches,
} from '../fees.ts';
import { aboveCap, parked } from '../prepare.ts';
import type { EvmFields, EvmRequest } from '../schema.ts';
import type { Market } from './market.ts';

/** What the price of one more attempt depends on, beside the market. */
export interface PricePlan {
  purpose: NewAttempt['purpose'];
  request: EvmRequest;
  /** The fields of the latest attempt; undefined when there is none. */
  latest: EvmFields | undefined;
  /** The highest caps of the earlier attempts; undefined when there is nothing to outbid. */
  highest: Caps | undefined;
  /** The most that the first attempt pays for a unit of gas; undefined when there is none. */
  firstFee: bigint | undefined;
  /** Nodes refused the latest attempt for its gas limit. So none of them has it. */
  isGasRefused?: boolean;
  /** Nodes refused the latest attempt, for its gas limit or for good. So none of them has it. */
  isRefused?: boolean;
  /** The most that an attempt other than a noop pays for a unit of gas; undefined when there is none. */
  highestAsked?: bigint | undefined;
  /** The least price, in wei per gas, that nodes named when they refused the latest attempt. */
  named?: bigint | undefined;
  policy: EvmPolicy;
}

/** A price, or why there is none now. */
export type PriceDecision = { kind: 'price'; price: Price } | Exclude<AttemptPreparation, { kind: 'ready' }>;

/**
 * The highest price of bumps and noops where the policy has no cap, as a multiple of the first attempt's price. No
 * market rises so far while a transaction waits. A cheaper first attempt counts as one gwei, so that it can be outbid.
 */
const MAX_TIMES_FIRST = 100n;
const CHEAP = 1_000_000_000n;

function capOf({ policy, firstFee }: PricePlan): bigint | null {
  if (policy.gasPriceCap !== null || firstFee === undefined) return policy.gasPriceCap;
  return MAX_TIMES_FIRST * largest(firstFee, CHEAP);
}

/** The price of one more attempt. It exceeds each earlier one by what pools ask for, unless the network has no pool. */
export function priceFor(plan: PricePlan, market: Market, gasLimit: bigint, settings: EvmSettings): PriceDecision {
  const { request, policy, highest } = plan;
  const { averageBlocktimeMs, lacksMempool } = settings;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  switch (plan.purpose) {
    case 'noop':
      return noopPrice(plan, market, averageBlocktimeMs);
    case 'replace': {
      if (request.price.kind !== 'speed') return decision(request.price);
      if (market.doubt !== undefined) return parked(market.doubt);
      const wanted = raised(priceOf(request.price, market, policy, averageBlocktimeMs), outbid);
      return decision(capPrice(wanted, policy.gasPriceCap));
    }
    case 'bump': {
      const tooDear = aboveCap(policy, market) ?? market.doubt;
      if (tooDear !== undefined) return parked(tooDear);
      const requested = atLeast(plan, laterPriceOf(request.price, market, policy, averageBlocktimeMs));
      const cap = capOf(plan);
      if (plan.isGasRefused === true) return decision(capPrice(raised(requested, highest), cap));
      if (lacksMempool) return poollessPrice(plan, capPrice(raised(requested, highest), cap), gasLimit);
      const price = capPrice(raised(requested, outbid), cap);
      if (outbid === undefined || reaches(price, outbid)) return decision(price);
      return parked(policy.gasPriceCap === null ? ceilingReason(outbid) : capReason(policy, outbid));
    }
  }
}

/**
 * The price of a noop: the market's price within the cap. If that is too little to replace the earlier attempts, the
 * noop pays the least that replaces them. So it exceeds the cap step by step, each step only after the cheaper one was
 * not enough, and up to a ceiling. While the market is in doubt, it also pays that least.
 */
function noopPrice(plan: PricePlan, market: Market, averageBlocktimeMs: number): PriceDecision {
  const { request, policy, highest } = plan;
  const cap = capOf(plan);
  const requested = capPrice(atLeast(plan, priceOf(request.price, market, policy, averageBlocktimeMs)), cap);
  if (highest === undefined) return market.doubt === undefined ? decision(requested) : parked(market.doubt);
  // What no node has needs not be outbid: a noop that is refused again and again must not become dearer each time.
  const outbid = plan.isRefused === true ? highest : minimumBump(highest);
  const needed = largest(outbid.fee, outbid.tip);
  if (plan.isRefused !== true && needed > highestOfNoops(plan)) return parked(ceilingReason(outbid));
  const limit = market.doubt !== undefined ? needed : cap === null ? null : largest(cap, needed);
  // `raiseTo` keeps the room for the base fee, so it can lift the max fee above the limit. `capPrice` lowers it again.
  return decision(capPrice(raiseTo(requested, outbid), limit));
}

/**
 * The ceiling of noops that outbid each other: the cap, a hundred times the first attempt, or twice the dearest that was
 * asked for. Without it, nodes that turn each noop away could have the whole balance offered as a price.
 */
function highestOfNoops({ policy, firstFee = 0n, highestAsked = 0n }: PricePlan): bigint {
  return largest(policy.gasPriceCap ?? 0n, MAX_TIMES_FIRST * largest(firstFee, CHEAP), 2n * highestAsked);
}

/**
 * The price on a network without a pool. Nothing has to be outbid there: another attempt is worth it only when the
 * network asks for more by now.
 */
function poollessPrice({ highest, latest }: PricePlan, price: Price, gasLimit: bigint): PriceDecision {
  if (highest === undefined || latest === undefined) return decision(price);
  const isBetter = mostPerGas(price) > highest.fee || gasLimit > amountOf(latest.gas_limit);
  if (isBetter && reaches(price, highest)) return decision(price);
  return parked(`The network's price is not above the ${highest.fee} wei per gas that were offered before`);
}

/** A price raised at once to what nodes named as the least, so that it is not approached step by step. */
function atLeast({ named }: PricePlan, price: Price): Price {
  return named === undefined ? price : raiseTo(price, { fee: named, tip: named });
}

function raised(price: Price, outbid: Caps | undefined): Price {
  return outbid === undefined ? price : raiseTo(price, outbid);
}

function decision(price: Price): PriceDecision {
  return { kind: 'price', price };
}

/**
 * A noop's price, lowered to what the balance can pay. The reserve is kept if the lowered price can be mined and
 * replaces the earlier attempts. Otherwise the reserve is spent as well: to put the noop off would leave an unwanted
 * attempt in effect.
 */
export function affordablePrice(
  { highest, policy }: PricePlan,
  price: Price,
  market: Market,
  { funds, gasLimit, cost }: { funds: bigint; gasLimit: bigint; cost: bigint },
): Price {
  if (funds - policy.minBalance >= cost) return price;
  const extra = cost - mostPerGas(price) * gasLimit;
  const perGas = (money: bigint) => largest((money - extra) / gasLimit, 0n);
  const outbid = highest === undefined ? { fee: 0n, tip: 0n } : minimumBump(highest);
  const beating = largest(outbid.fee, outbid.tip);
  const mined = market.block.baseFeePerGas ?? market.gasPrice;
  const withReserve = capPrice(price, largest(perGas(funds - policy.minBalance), largest(beating, mined)));
  if (mostPerGas(withReserve) * gasLimit + extra <= funds) return withReserve;
  const floor = highest === undefined ? mined : beating;
  return capPrice(withReserve, largest(perGas(funds), floor));
}

/** Why a requested price cannot replace the earlier attempts; undefined when it can. */
export function replacementFault(
  { request, policy, highest }: Pick<PricePlan, 'request' | 'policy' | 'highest'>,
  settings: EvmSettings,
): string | undefined {
  const { price } = request;
  const cap = policy.gasPriceCap;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  if (price.kind === 'speed') {
    const isOpen = outbid === undefined || cap === null || (outbid.fee <= cap && outbid.tip <= cap);
    return isOpen
      ? undefined
      : `Unable to calculate sufficient price bump for speed-based replacement: ${capReason(policy, outbid)}`;
  }
  if (cap !== null && mostPerGas(price) > cap) {
    const name = price.kind === 'legacy' ? 'Gas price' : 'Max fee per gas';
    return `${name} ${mostPerGas(price)} exceeds gas price cap ${cap}`;
  }
  if (outbid === undefined || settings.lacksMempool || reaches(price, outbid)) return undefined;
  return 'Gas price increase does not meet minimum bump requirement';
}

function capReason({ gasPriceCap }: EvmPolicy, { fee, tip }: Caps): string {
  const needed = largest(fee, tip);
  return `an attempt in the place of the earlier ones has to offer ${needed} wei per gas, and the gas_price_cap is ${gasPriceCap}`;
}

function ceilingReason({ fee, tip }: Caps): string {
  const needed = largest(fee, tip);
  return `an attempt in the place of the earlier ones has to offer ${needed} wei per gas, more than ${MAX_TIMES_FIRST} times the first`;
}
