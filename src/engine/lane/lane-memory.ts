import type { ChainHead } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Timestamp } from '../../features/transactions/records/transaction.ts';
import type { Log } from '../../observability/log.ts';
import { SequencePlanner } from '../sequencing/sequence-planner.ts';
import { BroadcastHistory } from './broadcast-history.ts';
import { RestoredLane } from './restored-lane.ts';

/** The time that a lane's chain tells, cached. */
export class ChainClock {
  #read: { at: Timestamp | undefined; until: number } | undefined;

  /**
   * Returns when the chain's latest block was made; undefined when no node tells. Either result is kept for `keepMs`
   * milliseconds, so that a node that hangs is not waited for again and again.
   * @param elapsed by a clock that never goes back
   */
  async at(
    ask: () => Promise<ChainHead>,
    { elapsed, keepMs, log }: { elapsed: () => number; keepMs: number; log: Log },
  ): Promise<Timestamp | undefined> {
    if (this.#read !== undefined && elapsed() < this.#read.until) return this.#read.at;
    let at: Timestamp | undefined;
    try {
      ({ at } = await ask());
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'chain does not tell its time');
    }
    this.#read = { at, until: elapsed() + keepMs };
    return at;
  }
}

/** How many times less often the pool is asked while no block takes a transaction of the lane. */
const STANDSTILL = 5;

/**
 * When the lane's transactions were last taken by a block, and when a node was last asked which of them its pool has.
 * Times are of a clock that never goes back, in milliseconds.
 */
export class PoolWatch {
  #movedAt: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasRoom = false;

  /** A block took a transaction of the lane, which makes room in the pool. */
  moved(elapsed: number): void {
    this.#movedAt = elapsed;
    this.#hasRoom = true;
  }

  /** How long nothing of the lane has got into a block; undefined while nothing ever did. */
  standsFor(elapsed: number): number | undefined {
    return this.#movedAt === undefined ? undefined : elapsed - this.#movedAt;
  }

  /** Whether to ask a node now: soon after a block has made room, and otherwise less often. */
  isDue(elapsed: number, poolMs: number): boolean {
    const waited = elapsed - this.#askedAt;
    return waited >= poolMs && (this.#hasRoom || waited >= STANDSTILL * poolMs);
  }

  /** A node is asked now. Returns whether a block has made room since the last time. */
  ask(elapsed: number): boolean {
    const hadRoom = this.#hasRoom;
    this.#askedAt = elapsed;
    this.#hasRoom = false;
    return hadRoom;
  }
}

/** Measures ages in milliseconds, by a clock that never goes back and that nobody sets. */
export class AgeTracker {
  readonly #known = new Map<string, { at: Timestamp; since: number }>();
  readonly #watched = new Map<string, number>();

  /**
   * Returns the age of a date from the store. The first call compares the date with the store's clock. Later calls add
   * the time that has really passed since then. So nobody waits longer when the store's clock is set back, or shorter
   * when it is set ahead.
   * @param now by the store's clock
   * @param elapsed by the clock that never goes back
   */
  of(key: string, at: Timestamp, { now, elapsed }: { now: Timestamp; elapsed: number }): number {
    const known = this.#known.get(key);
    if (known?.at === at) return elapsed - known.since;
    // A date in the future was stored before the clock was set back.
    const age = Math.max(now - at, 0);
    this.#known.set(key, { at, since: elapsed - age });
    return age;
  }

  /** Returns the time since the first call for the key. It uses no stored date and starts again after a restart. */
  watched(key: string, elapsed: number): number {
    const since = this.#watched.get(key) ?? elapsed;
    this.#watched.set(key, since);
    return elapsed - since;
  }

  forget(key: string): void {
    this.#known.delete(key);
    this.#watched.delete(key);
  }

  get size(): number {
    return new Set([...this.#known.keys(), ...this.#watched.keys()]).size;
  }
}

/** What a lane keeps from step to step outside the store. Losing it costs only time and repeated offers. */
export class LaneMemory {
  readonly planner: SequencePlanner;
  readonly offers = new BroadcastHistory();
  readonly pool = new PoolWatch();
  /** The ages of transactions, by their id, and of intents, by their position. */
  readonly ages = new AgeTracker();
  /** The attempt signed last of those that were seen in a block: its sequence, and when it was signed. */
  newestInBlock: { sequence: bigint; signedAt: Timestamp } | null = null;
  /** What was in the store when the lane began, and how far it was compared with the chain. */
  restored = RestoredLane.NOTHING;

  /** @param driftMs how long the chain must contradict what is known here before it is believed, in milliseconds */
  constructor(driftMs: number) {
    this.planner = new SequencePlanner(driftMs);
  }
}
