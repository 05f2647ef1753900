import { amountOf } from '../../../domain/amount.ts';
import type { AttemptPreparation, NewAttempt } from '../../chain-client.ts';
import type { EvmSettings } from '../configuration/network.ts';
import type { EvmPolicy } from '../configuration/policy.ts';
import {
  type Caps,
  capPrice,
  laterPriceOf,
  minimumBump,
  most,
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
  /** Of the latest attempt; undefined when there is none. */
  latest: EvmFields | undefined;
  /** Undefined when there is nothing to beat. */
  highest: Caps | undefined;
  /** The most that the first attempt pays for a unit of gas; undefined when there is none. */
  firstFee: bigint | undefined;
  policy: EvmPolicy;
}

/** A price, or why there is none now. */
export type Priced = { kind: 'price'; price: Price } | Exclude<AttemptPreparation, { kind: 'ready' }>;

/**
 * How far above the first attempt's price the market may take bumps and noops where the policy has no cap: no market
 * rises so far while a transaction waits. Cheap first attempts count as one gwei, so that these can be outbid.
 */
const MOST_TIMES_FIRST = 100n;
const CHEAP = 1_000_000_000n;

function capOf({ policy, firstFee }: PricePlan): bigint | null {
  if (policy.gasPriceCap !== null || firstFee === undefined) return policy.gasPriceCap;
  return MOST_TIMES_FIRST * most(firstFee, CHEAP);
}

/** The price of one more attempt: dearer than each earlier one by what pools ask for, unless the network has none. */
export function pricedFor(plan: PricePlan, market: Market, gasLimit: bigint, settings: EvmSettings): Priced {
  const { request, policy, highest } = plan;
  const { averageBlocktimeMs, lacksMempool } = settings;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  switch (plan.purpose) {
    case 'noop':
      return noopPrice(plan, market, averageBlocktimeMs);
    case 'replace': {
      if (request.price.kind !== 'speed') return priced(request.price);
      if (market.doubt !== undefined) return parked(market.doubt);
      const wanted = raised(priceOf(request.price, market, policy, averageBlocktimeMs), outbid);
      return priced(capPrice(wanted, policy.gasPriceCap));
    }
    case 'bump': {
      const tooDear = aboveCap(policy, market) ?? market.doubt;
      if (tooDear !== undefined) return parked(tooDear);
      const asked = laterPriceOf(request.price, market, policy, averageBlocktimeMs);
      const cap = capOf(plan);
      if (lacksMempool) return followed(plan, capPrice(raised(asked, highest), cap), gasLimit);
      const price = capPrice(raised(asked, outbid), cap);
      if (outbid === undefined || reaches(price, outbid)) return priced(price);
      return parked(policy.gasPriceCap === null ? ceilingReason(outbid) : capReason(policy, outbid));
    }
  }
}

/**
 * What a noop pays: the market's price within the cap. Where that is too little to replace the earlier attempts, it pays
 * the least that replaces them. So it goes beyond the cap step by step, each only after the cheaper one was not enough.
 * While the market is in doubt, it pays that least, too.
 */
function noopPrice(plan: PricePlan, market: Market, averageBlocktimeMs: number): Priced {
  const { request, policy, highest } = plan;
  const cap = capOf(plan);
  const asked = capPrice(priceOf(request.price, market, policy, averageBlocktimeMs), cap);
  if (highest === undefined) return market.doubt === undefined ? priced(asked) : parked(market.doubt);
  const outbid = minimumBump(highest);
  const needed = most(outbid.fee, outbid.tip);
  const limit = market.doubt !== undefined ? needed : cap === null ? null : most(cap, needed);
  // A higher priority fee takes the room for the base fee along, beyond the cap where that is not held down again.
  return priced(capPrice(raiseTo(asked, outbid), limit));
}

/** Without a pool nothing has to be outbid: another attempt is worth it when the network asks for more by now. */
function followed({ highest, latest }: PricePlan, price: Price, gasLimit: bigint): Priced {
  if (highest === undefined || latest === undefined) return priced(price);
  const isBetter = mostPerGas(price) > highest.fee || gasLimit > amountOf(latest.gas_limit);
  if (isBetter && reaches(price, highest)) return priced(price);
  return parked(`The network's price is not above the ${highest.fee} wei per gas that were offered before`);
}

function raised(price: Price, outbid: Caps | undefined): Price {
  return outbid === undefined ? price : raiseTo(price, outbid);
}

function priced(price: Price): Priced {
  return { kind: 'price', price };
}

/**
 * A noop's price, lowered to what the balance pays. The reserve is kept where the price that is left can be mined and
 * replaces the earlier attempts; else the reserve is spent as well. A noop that is put off would leave in effect what
 * nobody wants.
 */
export function payable(
  { highest, policy }: PricePlan,
  price: Price,
  market: Market,
  { funds, gasLimit, cost }: { funds: bigint; gasLimit: bigint; cost: bigint },
): Price {
  if (funds - policy.minBalance >= cost) return price;
  const extra = cost - mostPerGas(price) * gasLimit;
  const perGas = (money: bigint) => most((money - extra) / gasLimit, 0n);
  const outbid = highest === undefined ? { fee: 0n, tip: 0n } : minimumBump(highest);
  const beating = most(outbid.fee, outbid.tip);
  const mined = market.block.baseFeePerGas ?? market.gasPrice;
  const kept = capPrice(price, most(perGas(funds - policy.minBalance), most(beating, mined)));
  if (mostPerGas(kept) * gasLimit + extra <= funds) return kept;
  const floor = highest === undefined ? mined : beating;
  return capPrice(kept, most(perGas(funds), floor));
}

/** Why a price that was asked for cannot take the place of the earlier attempts; undefined when it can. */
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
  const needed = most(fee, tip);
  return `an attempt in the place of the earlier ones has to offer ${needed} wei per gas, and the gas_price_cap is ${gasPriceCap}`;
}

function ceilingReason({ fee, tip }: Caps): string {
  const needed = most(fee, tip);
  return `an attempt in the place of the earlier ones has to offer ${needed} wei per gas, more than ${MOST_TIMES_FIRST} times the first`;
}
