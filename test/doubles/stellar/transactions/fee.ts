import type { Header } from '../ledger/entry.ts';
import type { Frame } from './frame.ts';

/** The lowest valid inclusion fee of a transaction. */
export function minimumInclusionFee(frame: Frame, { baseFee }: Header): bigint {
  return baseFee * BigInt(Math.max(1, frame.size));
}

/** The full fee at a base fee, including the resource fee. */
export function feeAt(frame: Frame, baseFee: bigint): bigint {
  return frame.resourceFee + baseFee * BigInt(Math.max(1, frame.size));
}

/** The charged fee at a base fee. It never exceeds the bid. */
export function chargedFee(frame: Frame, baseFee: bigint): bigint {
  const full = frame.resourceFee + frame.inclusionFee;
  const asked = feeAt(frame, baseFee);
  return asked < full ? asked : full;
}

/** Compares two bids for each operation. Positive if the first is higher. */
export function compareBids(one: Bid, other: Bid): number {
  const difference = one.inclusionFee * BigInt(other.size) - other.inclusionFee * BigInt(one.size);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

export interface Bid {
  readonly inclusionFee: bigint;
  readonly size: number;
}

/** The lowest inclusion fee with which a transaction of this size outbids another one. */
export function betterBid(size: number, than: Bid): bigint {
  return (than.inclusionFee * BigInt(size)) / BigInt(than.size) + 1n;
}
