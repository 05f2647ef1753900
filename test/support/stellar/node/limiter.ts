import { type Bid, betterBid, compareBids } from '../transactions/fee.ts';
import type { Frame } from '../transactions/frame.ts';

/** Load that nobody of the tests has sent: so many operations that bid so much each. */
export interface Crowd {
  readonly operations: number;
  readonly bid: bigint;
}

/** Who leaves for a transaction. */
export interface Room {
  readonly kind: 'room';
  readonly evicted: readonly Frame[];
  /** How many operations of the crowd. */
  readonly crowd: number;
  readonly best: Bid | undefined;
}

/** The full fee that would do, where any would. */
export interface Full {
  readonly kind: 'full';
  readonly required?: bigint;
}

/**
 * How much a node's queue takes, and who has to leave for whom: stellar-core's `TxQueueLimiter`. The crowd takes part as
 * operations without a source; those that were evicted are back with the next ledger.
 */
export class QueueLimiter {
  /** The best that was evicted since the last ledger: who comes later must beat it. */
  #beaten: Bid | undefined;
  #crowdGone = 0;

  /** Finds room for a transaction; nothing has happened yet. */
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

  /** With a new ledger all may compete again. */
  reset(): void {
    this.#beaten = undefined;
    this.#crowdGone = 0;
  }
}

/** The whole crowd stands as one, behind those that bid as much. */
function cheapestFirst(queued: readonly Frame[], { operations, bid }: Crowd): (Frame | Bid)[] {
  if (operations <= 0) return [...queued].sort(compareBids);
  const crowd: Bid = { inclusionFee: bid * BigInt(operations), size: operations };
  return [...queued, crowd].sort(compareBids);
}

function fullBut(frame: Frame, than: Bid): Full {
  const flat = frame.fullFee - frame.inclusionFee;
  return { kind: 'full', required: betterBid(frame.size, than) + flat };
}
