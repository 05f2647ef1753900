import type { Header } from '../ledger/entry.ts';
import type { Frame } from './frame.ts';

/** The least that a transaction must bid for its place. */
export function minimumInclusionFee(frame: Frame, { baseFee }: Header): bigint {
  return baseFee * BigInt(Math.max(1, frame.size));
}

/** What a place costs at a base fee, with what a contract's resources cost. */
export function feeAt(frame: Frame, baseFee: bigint): bigint {
  return frame.resourceFee + baseFee * BigInt(Math.max(1, frame.size));
}

/** What is charged at a base fee: never more than what was bid. */
export function chargedFee(frame: Frame, baseFee: bigint): bigint {
  const full = frame.resourceFee + frame.inclusionFee;
  const asked = feeAt(frame, baseFee);
  return asked < full ? asked : full;
}

/** Compares what two bid for an operation; positive when the first bids more. */
export function compareBids(one: Bid, other: Bid): number {
  const difference = one.inclusionFee * BigInt(other.size) - other.inclusionFee * BigInt(one.size);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

export interface Bid {
  readonly inclusionFee: bigint;
  readonly size: number;
}

/** The least inclusion fee with which a transaction of a size bids more than another. */
export function betterBid(size: number, than: Bid): bigint {
  return (than.inclusionFee * BigInt(size)) / BigInt(than.size) + 1n;
}
