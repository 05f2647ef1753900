import { compareBids } from '../transactions/fee.ts';
import type { Frame } from '../transactions/frame.ts';
import type { Crowd } from './limiter.ts';

/** The transactions of one kind in a ledger, and the price of an operation. */
export interface Phase {
  readonly frames: readonly Frame[];
  readonly baseFee: bigint;
}

/**
 * Picks the best bids that fit. If some do not fit, all pay the lowest bid for an operation among those picked:
 * stellar-core's `applySurgePricing`.
 */
export function bestBids(waiting: readonly Frame[], most: number, crowd: Crowd, baseFee: bigint): Phase {
  let left = most;
  let crowdLeft = crowd.operations;
  let isFull = false;
  let lowest: bigint | undefined;
  const frames: Frame[] = [];
  const bestFirst = [...waiting].sort((one, other) => compareBids(other, one));
  const admitCrowd = (above: Frame | undefined) => {
    const isBetter = above === undefined || compareBids({ inclusionFee: crowd.bid, size: 1 }, above) > 0;
    if (crowdLeft === 0 || !isBetter) return;
    const taken = Math.min(crowdLeft, left);
    if (taken < crowdLeft) isFull = true;
    if (taken > 0) lowest = crowd.bid;
    left -= taken;
    crowdLeft = 0;
  };
  for (const frame of bestFirst) {
    admitCrowd(frame);
    if (frame.size > left) {
      isFull = true;
      continue;
    }
    frames.push(frame);
    left -= frame.size;
    lowest = frame.inclusionFee / BigInt(Math.max(1, frame.size));
  }
  admitCrowd(undefined);
  return { frames, baseFee: isFull && lowest !== undefined && lowest > baseFee ? lowest : baseFee };
}
