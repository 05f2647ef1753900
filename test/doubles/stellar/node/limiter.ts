import { type Bid, betterBid, compareBids } from '../transactions/fee.ts';
import type { Frame } from '../transactions/frame.ts';

/** Simulated load that no test sends: a number of operations and the bid of each. */
export interface Crowd {
  readonly operations: number;
  readonly bid: bigint;
}

/** The transactions that have to leave to make room for a new one. */
export interface Room {
  readonly kind: 'room';
  readonly evicted: readonly Frame[];
  /** How many of the crowd's operations leave. */
  readonly crowd: number;
  readonly best: Bid | undefined;
}

/** The full fee that would be enough, if any would. */
export interface Full {
  readonly kind: 'full';
  readonly required?: bigint;
}

/**
 * Decides how much a node's queue takes, and which transactions are evicted for a new one: stellar-core's
 * `TxQueueLimiter`. The crowd takes part as operations without a source. Evicted crowd operations return with the next
 * ledger.
 */
export class QueueLimiter {
  /** The best bid evicted since the last ledger. Later transactions must beat it. */
  #beaten: Bid | undefined;
  #crowdGone = 0;

  /** Finds room for a transaction. Changes nothing yet. */
  roomFor(
    frame: Frame,
    queued: readonly Frame[],
    replaced: Frame | undefined,
    most: number,
    crowd: Crowd,
  ): Room | Full {
    const beaten = this.#beaten;
    if (beaten !== undefined && compareBids(beaten, frame) >= 0) return fullBut(frame, beaten);
    const added = Math.max(0, frame.size - (replaced?.size ?? 0));
    if (added > most) return { kind: 'full' };
    const waiting = cheapestFirst(queued, { ...crowd, operations: crowd.operations - this.#crowdGone });
    let over = waiting.reduce((sum, { size }) => sum + size, added) - most;
    let [gone, best] = [0, undefined as Bid | undefined];
    const evicted: Frame[] = [];
    for (const one of waiting) {
      if (over <= 0) break;
      if (compareBids(one, frame) >= 0) return fullBut(frame, one);
      if ('source' in one && one.source === frame.source) return { kind: 'full' };
      if ('source' in one) evicted.push(one);
      else gone += Math.min(one.size, over);
      over -= one.size;
      best = one;
    }
    return over > 0 ? { kind: 'full' } : { kind: 'room', evicted, crowd: gone, best };
  }

  take({ crowd, best }: Room): void {
    this.#crowdGone += crowd;
    this.#beaten = best ?? this.#beaten;
  }

  /** Lets all bids compete again after a new ledger. */
  reset(): void {
    this.#beaten = undefined;
    this.#crowdGone = 0;
  }
}

/** Sorts by bid. The whole crowd counts as one entry, and comes after equal bids. */
function cheapestFirst(queued: readonly Frame[], { operations, bid }: Crowd): (Frame | Bid)[] {
  if (operations <= 0) return [...queued].sort(compareBids);
  const crowd: Bid = { inclusionFee: bid * BigInt(operations), size: operations };
  return [...queued, crowd].sort(compareBids);
}

function fullBut(frame: Frame, than: Bid): Full {
  const flat = frame.fullFee - frame.inclusionFee;
  return { kind: 'full', required: betterBid(frame.size, than) + flat };
}
