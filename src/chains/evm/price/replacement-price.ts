import { amountOf, largestAmount } from '../../../domain/amount.ts';
import type { ReplacementPreparation, ReplacementSpec } from '../../chain-client.ts';
import type { EvmNetworkSettings } from '../configuration/network.ts';
import type { EvmPolicy } from '../configuration/policy.ts';
import { parkedPreparation } from '../prepare.ts';
import type { EvmFields, EvmRequest } from '../schema.ts';
import type { GasMarket } from './gas-market.ts';
import {
  type FeeCaps,
  type GasPrice,
  gasPriceFor,
  lowerPrice,
  maxPricePerGas,
  minimumBump,
  raiseToFeeCaps,
  reachesFeeCaps,
  replacementMarketPrice,
} from './gas-price.ts';

/** What the price of one more attempt depends on, beside the market. */
export interface ReplacementPricePlan {
  purpose: ReplacementSpec['purpose'];
  request: EvmRequest;
  /** The fields of the latest attempt; undefined when there is none. */
  latest: EvmFields | undefined;
  /** The highest caps of the earlier attempts; undefined when there is nothing to outbid. */
  highest: FeeCaps | undefined;
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
export type PriceDecision = { kind: 'price'; price: GasPrice } | Exclude<ReplacementPreparation, { kind: 'ready' }>;

/**
 * The highest price of bumps and noops where the policy has no cap, as a multiple of the first attempt's price. No
 * market rises so far while a transaction waits. A cheaper first attempt counts as one gwei, so that it can be outbid.
 */
const MAX_TIMES_FIRST = 100n;
const CHEAP = 1_000_000_000n;

function capOf({ policy, firstFee }: ReplacementPricePlan): bigint | null {
  const { cap } = policy.gasPriceCap;
  if (cap !== null || firstFee === undefined) return cap;
  return MAX_TIMES_FIRST * largestAmount(firstFee, CHEAP);
}

/** The price of one more attempt. It exceeds each earlier one by what pools ask for, unless the network has no pool. */
export function replacementPriceFor(
  plan: ReplacementPricePlan,
  market: GasMarket,
  gasLimit: bigint,
  settings: EvmNetworkSettings,
): PriceDecision {
  const { request, policy, highest } = plan;
  const { averageBlocktimeMs, lacksMempool } = settings;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  switch (plan.purpose) {
    case 'noop':
      return noopPrice(plan, market, averageBlocktimeMs);
    case 'replace': {
      if (request.price.kind !== 'speed') return decision(request.price);
      if (market.doubt !== undefined) return parkedPreparation(market.doubt);
      const wanted = raised(gasPriceFor(request.price, market, policy, averageBlocktimeMs), outbid);
      return decision(policy.gasPriceCap.lower(wanted));
    }
    case 'bump': {
      const tooDear = policy.gasPriceCap.marketFault(market) ?? market.doubt;
      if (tooDear !== undefined) return parkedPreparation(tooDear);
      const requested = atLeast(plan, replacementMarketPrice(request.price, market, policy, averageBlocktimeMs));
      const cap = capOf(plan);
      if (plan.isGasRefused === true) return decision(lowerPrice(raised(requested, highest), cap));
      if (lacksMempool) return poollessPrice(plan, lowerPrice(raised(requested, highest), cap), gasLimit);
      const price = lowerPrice(raised(requested, outbid), cap);
      if (outbid === undefined || reachesFeeCaps(price, outbid)) return decision(price);
      return parkedPreparation(policy.gasPriceCap.waitReason(LEAST_PRICE, highestOf(outbid)) ?? ceilingReason(outbid));
    }
  }
}

/**
 * The price of a noop: the market's price within the cap. If that is too little to replace the earlier attempts, the
 * noop pays the least that replaces them. So it exceeds the cap step by step, each step only after the cheaper one was
 * not enough, and up to a ceiling. While the market is in doubt, it also pays that least.
 */
function noopPrice(plan: ReplacementPricePlan, market: GasMarket, averageBlocktimeMs: number): PriceDecision {
  const { request, policy, highest } = plan;
  const cap = capOf(plan);
  const requested = lowerPrice(atLeast(plan, gasPriceFor(request.price, market, policy, averageBlocktimeMs)), cap);
  if (highest === undefined) return market.doubt === undefined ? decision(requested) : parkedPreparation(market.doubt);
  // What no node has needs not be outbid: a noop that is refused again and again must not become dearer each time.
  const outbid = plan.isRefused === true ? highest : minimumBump(highest);
  const needed = highestOf(outbid);
  if (plan.isRefused !== true && needed > highestOfNoops(plan)) return parkedPreparation(ceilingReason(outbid));
  const limit = market.doubt !== undefined ? needed : cap === null ? null : largestAmount(cap, needed);
  // `raiseToFeeCaps` keeps the room for the base fee, so it can lift the max fee above the limit. `lowerPrice` lowers it again.
  return decision(lowerPrice(raiseToFeeCaps(requested, outbid), limit));
}

/**
 * The ceiling of noops that outbid each other: the cap, a hundred times the first attempt, or twice the dearest that was
 * asked for. Without it, nodes that turn each noop away could have the whole balance offered as a price.
 */
function highestOfNoops({ policy, firstFee = 0n, highestAsked = 0n }: ReplacementPricePlan): bigint {
  return largestAmount(
    policy.gasPriceCap.cap ?? 0n,
    MAX_TIMES_FIRST * largestAmount(firstFee, CHEAP),
    2n * highestAsked,
  );
}

/**
 * The price on a network without a pool. Nothing has to be outbid there: another attempt is worth it only when the
 * network asks for more by now.
 */
function poollessPrice({ highest, latest }: ReplacementPricePlan, price: GasPrice, gasLimit: bigint): PriceDecision {
  if (highest === undefined || latest === undefined) return decision(price);
  const isBetter = maxPricePerGas(price) > highest.fee || gasLimit > amountOf(latest.gas_limit);
  if (isBetter && reachesFeeCaps(price, highest)) return decision(price);
  return parkedPreparation(`The network's price is not above the ${highest.fee} wei per gas that were offered before`);
}

/** A price raised at once to what nodes named as the least, so that it is not approached step by step. */
function atLeast({ named }: ReplacementPricePlan, price: GasPrice): GasPrice {
  return named === undefined ? price : raiseToFeeCaps(price, { fee: named, tip: named });
}

function raised(price: GasPrice, outbid: FeeCaps | undefined): GasPrice {
  return outbid === undefined ? price : raiseToFeeCaps(price, outbid);
}

function decision(price: GasPrice): PriceDecision {
  return { kind: 'price', price };
}

/**
 * A noop's price, lowered to what the balance can pay. The reserve is kept if the lowered price can be mined and
 * replaces the earlier attempts. Otherwise the reserve is spent as well: to put the noop off would leave an unwanted
 * attempt in effect.
 */
export function affordablePrice(
  { highest, policy }: ReplacementPricePlan,
  price: GasPrice,
  market: GasMarket,
  { funds, gasLimit, cost }: { funds: bigint; gasLimit: bigint; cost: bigint },
): GasPrice {
  if (funds - policy.minBalance >= cost) return price;
  const extra = cost - maxPricePerGas(price) * gasLimit;
  const perGas = (money: bigint) => largestAmount((money - extra) / gasLimit, 0n);
  const outbid = highest === undefined ? { fee: 0n, tip: 0n } : minimumBump(highest);
  const beating = highestOf(outbid);
  const mined = market.block.baseFeePerGas ?? market.gasPrice;
  const withReserve = lowerPrice(
    price,
    largestAmount(perGas(funds - policy.minBalance), largestAmount(beating, mined)),
  );
  if (maxPricePerGas(withReserve) * gasLimit + extra <= funds) return withReserve;
  const floor = highest === undefined ? mined : beating;
  return lowerPrice(withReserve, largestAmount(perGas(funds), floor));
}

/** Why a requested price cannot replace the earlier attempts; undefined when it can. */
export function replacementPriceFault(
  { request, policy, highest }: Pick<ReplacementPricePlan, 'request' | 'policy' | 'highest'>,
  settings: EvmNetworkSettings,
): string | undefined {
  const { price } = request;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  if (price.kind === 'speed') {
    const tooDear = outbid === undefined ? undefined : policy.gasPriceCap.fault(LEAST_PRICE, highestOf(outbid));
    return tooDear && `Unable to calculate sufficient price bump for speed-based replacement: ${tooDear}`;
  }
  const name = price.kind === 'legacy' ? 'Gas price' : 'Max fee per gas';
  const tooDear = policy.gasPriceCap.fault(name, maxPricePerGas(price));
  if (tooDear !== undefined) return tooDear;
  if (outbid === undefined || settings.lacksMempool || reachesFeeCaps(price, outbid)) return undefined;
  return 'Gas price increase does not meet minimum bump requirement';
}

/** What texts call the price that replaces the earlier attempts. */
const LEAST_PRICE = 'the least gas price of a replacement';

function highestOf({ fee, tip }: FeeCaps): bigint {
  return largestAmount(fee, tip);
}

function ceilingReason(outbid: FeeCaps): string {
  return `an attempt in the place of the earlier ones has to offer ${highestOf(outbid)} wei per gas, more than ${MAX_TIMES_FIRST} times the first`;
}
