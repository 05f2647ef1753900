import type { ReadOne } from '../../egress/rpc-client.ts';
import type { EvmPolicy } from './policy.ts';
import { type Block, feeHistory, gasPrice, latestBlock } from './provider.ts';
import type { RequestedPrice, Speed } from './schema.ts';

/** What the network charges at the moment, in wei. */
export interface Market {
  block: Block;
  /** What the node would pay in a legacy transaction. */
  gasPrice: bigint;
  /** Priority fee by speed; undefined on a network without EIP-1559. */
  tips: Readonly<Record<Speed, bigint>> | undefined;
}

/** What a transaction pays for its gas. */
export type Price =
  | { kind: 'legacy'; gasPrice: bigint }
  | { kind: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

const HISTORY_BLOCKS = 4;
const GWEI = 1_000_000_000n;

/** The percentile of paid priority fees that a speed asks for, and its share of the legacy price, in per cent. */
const SPEEDS: readonly { speed: Speed; percentile: number; legacyPercent: bigint }[] = [
  { speed: 'safeLow', percentile: 30, legacyPercent: 100n },
  { speed: 'average', percentile: 50, legacyPercent: 125n },
  { speed: 'fast', percentile: 85, legacyPercent: 150n },
  { speed: 'fastest', percentile: 99, legacyPercent: 200n },
];

/** Asks a node what the network charges. `hasEip1559` null leaves it to the latest block. */
export async function readMarket(read: ReadOne, hasEip1559: boolean | null): Promise<Market> {
  const [block, price] = await Promise.all([latestBlock(read), gasPrice(read)]);
  if (!(hasEip1559 ?? block.baseFeePerGas !== null)) return { block, gasPrice: price, tips: undefined };
  const percentiles = SPEEDS.map(({ percentile }) => percentile);
  const rewards = await feeHistory(read, HISTORY_BLOCKS, percentiles);
  return { block, gasPrice: price, tips: tipsFrom(rewards) };
}

/** The mean of what was really paid in a percentile's column; where nobody paid, as many hundredths of a gwei. */
function tipsFrom(rewards: readonly bigint[][]): Record<Speed, bigint> {
  const tip = (column: number, percentile: number) => {
    const paid = rewards.map((row) => row[column] ?? 0n).filter((fee) => fee > 0n);
    if (paid.length === 0) return (BigInt(percentile) * GWEI) / 100n;
    return paid.reduce((sum, fee) => sum + fee, 0n) / BigInt(paid.length);
  };
  const tips = SPEEDS.map(({ speed, percentile }, column) => [speed, tip(column, percentile)]);
  return Object.fromEntries(tips) as Record<Speed, bigint>;
}

/** The price that a request gets at the market's present state, before the policy's cap. */
export function priceOf(
  requested: RequestedPrice,
  market: Market,
  policy: EvmPolicy,
  averageBlocktimeMs: number,
): Price {
  if (requested.kind !== 'speed') return requested;
  const { speed } = requested;
  if (market.tips === undefined || policy.eip1559 === false) {
    const percent = SPEEDS.find((row) => row.speed === speed)?.legacyPercent ?? 100n;
    return { kind: 'legacy', gasPrice: (market.gasPrice * percent) / 100n };
  }
  const maxPriorityFeePerGas = market.tips[speed];
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

/** Lowers a price to the policy's cap; the priority fee never exceeds the whole. */
export function capPrice(price: Price, cap: bigint | null): Price {
  if (cap === null) return price;
  if (price.kind === 'legacy') return { kind: 'legacy', gasPrice: least(price.gasPrice, cap) };
  const maxFeePerGas = least(price.maxFeePerGas, cap);
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas: least(price.maxPriorityFeePerGas, maxFeePerGas) };
}

/**
 * What the network asks for at least, when that is more than the policy's cap: nothing under the cap could be mined.
 * A network without base fee has no such line, so the node's own price stands for it.
 */
export function floorAbove(cap: bigint | null, market: Market): bigint | undefined {
  if (cap === null) return undefined;
  const floor = market.block.baseFeePerGas ?? market.gasPrice;
  return floor > cap ? floor : undefined;
}

/** The most that a unit of gas can cost at a price. */
export function mostPerGas(price: Price): bigint {
  return price.kind === 'legacy' ? price.gasPrice : price.maxFeePerGas;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
