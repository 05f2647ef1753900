import { amountOf, jsonAmount, largestAmount, smallestAmount } from '../../../domain/amount.ts';
import type { EvmFields, RequestedPrice, Speed } from '../schema.ts';
import type { GasMarket } from './gas-market.ts';

/** What a transaction pays for its gas. */
export type GasPrice =
  | { kind: 'legacy'; gasPrice: bigint }
  | { kind: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** A price as pools compare it. A legacy price counts as both caps (geth core/types LegacyTx gasFeeCap, gasTipCap). */
export interface FeeCaps {
  fee: bigint;
  tip: bigint;
}

/** The part of a policy that decides the kind of price. Null follows the network. */
interface PricingPolicy {
  eip1559Pricing: boolean | null;
}

const GWEI = 1_000_000_000n;

/** A speed's share of the price that the node would pay in a legacy transaction, in per cent. */
const LEGACY_PERCENT: Readonly<Record<Speed, bigint>> = { safeLow: 100n, average: 125n, fast: 150n, fastest: 200n };

/** The price that a request gets at the market's present state, before the policy's cap. */
export function gasPriceFor(
  requested: RequestedPrice,
  market: GasMarket,
  policy: PricingPolicy,
  averageBlocktimeMs: number,
): GasPrice {
  if (requested.kind !== 'speed') return requested;
  const { speed } = requested;
  if (market.tips === undefined || policy.eip1559Pricing === false) return legacyPrice(speed, market);
  return dynamicPrice(speed, market, market.tips, averageBlocktimeMs);
}

/**
 * The market's price for a further attempt: for the requested speed, or for `fast` if the request gave a price, which
 * did not lead into a block. The kind of price stays that of the request.
 */
export function replacementMarketPrice(
  requested: RequestedPrice,
  market: GasMarket,
  policy: PricingPolicy,
  averageBlocktimeMs: number,
): GasPrice {
  if (requested.kind === 'legacy') return legacyPrice('fast', market);
  if (requested.kind === 'speed') return gasPriceFor(requested, market, policy, averageBlocktimeMs);
  return market.tips === undefined ? requested : dynamicPrice('fast', market, market.tips, averageBlocktimeMs);
}

function legacyPrice(speed: Speed, market: GasMarket): GasPrice {
  return { kind: 'legacy', gasPrice: (market.gasPrice * LEGACY_PERCENT[speed]) / 100n };
}

function dynamicPrice(
  speed: Speed,
  market: GasMarket,
  tips: Readonly<Record<Speed, bigint>>,
  averageBlocktimeMs: number,
): GasPrice {
  const maxPriorityFeePerGas = tips[speed];
  const headroom = ((market.block.baseFeePerGas ?? 0n) * baseFeeMultiplier(averageBlocktimeMs)) / GWEI;
  return { kind: 'eip1559', maxFeePerGas: headroom + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

/**
 * How far the base fee can rise in 90 s of full blocks (an eighth per block, EIP-1559), at most tenfold; with nine
 * decimals.
 */
export function baseFeeMultiplier(averageBlocktimeMs: number): bigint {
  const factor = Math.min(1.125 ** Math.floor(90_000 / averageBlocktimeMs), 10);
  return BigInt(Math.round(factor * 1e9));
}

/** The `gas_price_cap` of a policy. All prices are compared with it here, and refused with its one text. */
export class PriceLimit {
  /** In wei per gas; null: no limit. */
  readonly cap: bigint | null;

  constructor(cap: bigint | null) {
    this.cap = cap;
  }

  lower(price: GasPrice): GasPrice {
    return lowerPrice(price, this.cap);
  }

  /** Why a price is too high; undefined if it is not. `name` is what the text calls the price. */
  fault(name: string, perGas: bigint): string | undefined {
    if (this.cap === null || perGas <= this.cap) return undefined;
    return `${name} ${perGas} exceeds gas price cap ${this.cap}`;
  }

  /** {@link fault} for a transaction that waits until it fits. */
  waitReason(name: string, perGas: bigint): string | undefined {
    const fault = this.fault(name, perGas);
    return fault && `Policy gas_price_cap: ${fault}`;
  }

  /**
   * Why nothing within the limit could be mined now. A network without a base fee has no least price, so the node's own
   * price stands for it.
   */
  marketFault({ block, gasPrice }: GasMarket): string | undefined {
    return this.waitReason("the network's gas price", block.baseFeePerGas ?? gasPrice);
  }
}

/** Lowers a price to a cap; the priority fee never exceeds the whole. */
export function lowerPrice(price: GasPrice, cap: bigint | null): GasPrice {
  if (cap === null) return price;
  if (price.kind === 'legacy') return { kind: 'legacy', gasPrice: smallestAmount(price.gasPrice, cap) };
  const maxFeePerGas = smallestAmount(price.maxFeePerGas, cap);
  return {
    kind: 'eip1559',
    maxFeePerGas,
    maxPriorityFeePerGas: smallestAmount(price.maxPriorityFeePerGas, maxFeePerGas),
  };
}

/** The most that a unit of gas can cost at a price. */
export function maxPricePerGas(price: GasPrice): bigint {
  return feeCapsOf(price).fee;
}

export function feeCapsOf(price: GasPrice): FeeCaps {
  return price.kind === 'legacy'
    ? { fee: price.gasPrice, tip: price.gasPrice }
    : { fee: price.maxFeePerGas, tip: price.maxPriorityFeePerGas };
}

/** The highest caps of signed attempts, each cap taken by itself; undefined without attempts. */
export function highestFeeCaps(attempts: readonly EvmFields[]): FeeCaps | undefined {
  return attempts.map(pricedAt).reduce<FeeCaps | undefined>(
    (highest, { fee, tip }) => ({
      fee: largestAmount(fee, highest?.fee ?? 0n),
      tip: largestAmount(tip, highest?.tip ?? 0n),
    }),
    undefined,
  );
}

function pricedAt(fields: EvmFields): FeeCaps {
  const fee = amountOf(fields.max_fee_per_gas ?? fields.gas_price ?? 0);
  return { fee, tip: amountOf(fields.max_priority_fee_per_gas ?? fields.gas_price ?? 0) };
}

/**
 * The lowest caps that a pool accepts in place of an attempt with these caps: a tenth more of each (geth
 * core/txpool/legacypool/list.go Add, rounded down as there), and at least 1 more.
 */
export function minimumBump({ fee, tip }: FeeCaps): FeeCaps {
  return { fee: tenthMore(fee), tip: tenthMore(tip) };
}

function tenthMore(amount: bigint): bigint {
  return largestAmount((amount * 11n) / 10n, amount + 1n);
}

/**
 * Raises a price to at least these caps. A higher priority fee also raises the max fee, so the room for the base fee
 * stays.
 */
export function raiseToFeeCaps(price: GasPrice, { fee, tip }: FeeCaps): GasPrice {
  if (price.kind === 'legacy')
    return { kind: 'legacy', gasPrice: largestAmount(price.gasPrice, largestAmount(fee, tip)) };
  const maxPriorityFeePerGas = largestAmount(price.maxPriorityFeePerGas, tip);
  const withTip = price.maxFeePerGas - price.maxPriorityFeePerGas + maxPriorityFeePerGas;
  return { kind: 'eip1559', maxFeePerGas: largestAmount(withTip, fee), maxPriorityFeePerGas };
}

/** Whether both caps of a price are at least these. */
export function reachesFeeCaps(price: GasPrice, { fee, tip }: FeeCaps): boolean {
  const caps = feeCapsOf(price);
  return caps.fee >= fee && caps.tip >= tip;
}

/** A price in the form of {@link EvmFields}. */
export function priceFields(price: GasPrice): Partial<EvmFields> {
  return price.kind === 'legacy'
    ? { gas_price: jsonAmount(price.gasPrice) }
    : {
        max_fee_per_gas: jsonAmount(price.maxFeePerGas),
        max_priority_fee_per_gas: jsonAmount(price.maxPriorityFeePerGas),
      };
}
