import { LeaseLost } from '../store/lease.ts';
import type { Store } from '../store/store.ts';
import { Ages } from './ages.ts';
import { ChainClock } from './chain-clock.ts';
import { fillGaps } from './gaps.ts';
import { takeUp } from './intake.ts';
import { carryOut } from './intents.ts';
import { isAside, isDue, type LaneStep, unmined, withinReach } from './lane-step.ts';
import type { HeldLease, LeaseKeeper } from './lease-keeper.ts';
import type { Ledger, OpenEntry } from './ledger.ts';
import { look } from './looking.ts';
import { markMissing } from './missing.ts';
import { OfferBook, type Parked } from './offer-book.ts';
import { offer } from './offering.ts';
import { OpenBook } from './open-book.ts';
import { PoolWatch } from './pool-watch.ts';
import { renew } from './renewal.ts';
import { type SenderSources, Senders } from './sender.ts';
import type { HeardCount } from './sequence-leap.ts';
import { SequencePlanner } from './sequence-planner.ts';
import { tellStranded } from './stranded.ts';
import { backOff } from './timing.ts';

export interface LaneDeps extends Pick<LaneStep, 'timing' | 'random' | 'log' | 'elapsed' | 'newId' | 'reach'> {
  store: Store;
  leases: Pick<LeaseKeeper, 'hold'>;
  /** A ledger whose commits are under the lane's lease; `onDoubt` is {@link LaneStep.distrust}. */
  ledgerUnder(lease: HeldLease, onDoubt: () => void): Ledger;
  sources: SenderSources;
  /** What the chain told of a lane's account before anything was asked for the lane. */
  heard(lane: string): HeardCount | undefined;
  /** Called with the network type when a step ended unexpectedly. */
  onFault(networkType: string): void;
}

/** What a wake-up led to: `elsewhere` when the lane is another instance's. */
export type LaneWake = 'ran' | 'not now' | 'elsewhere';

/**
 * The one owner of an account's order on one chain, for as long as it has the lane's lease. It runs while the store has
 * something due for it, one step at a time, and keeps nothing in memory that the store does not hold.
 */
export class Lane {
  readonly #key: string;
  readonly #deps: LaneDeps;
  #planner: SequencePlanner;
  #offers = new OfferBook();
  #pool = new PoolWatch();
  #ages = new Ages();
  readonly #chainClock = new ChainClock();
  /** Kept from step to step, for nobody else changes what the lane has under way while its lease lasts. */
  #open: OpenBook | null = null;
  #running: Promise<LaneWake> | null = null;
  #lease: HeldLease | null = null;
  #again = false;
  #closed = false;
  #faults = 0;
  #restUntil = 0;
  #endedAt: number;

  constructor(key: string, deps: LaneDeps) {
    this.#key = key;
    this.#deps = deps;
    this.#planner = new SequencePlanner(deps.timing, deps.heard(key));
    this.#endedAt = deps.elapsed();
  }

  /** Runs the lane until it has nothing more to do now. One that runs already, rests or is closed does not. */
  async wake(): Promise<LaneWake> {
    if (this.#running !== null) {
      this.#again = true;
      return 'not now';
    }
    const { elapsed } = this.#deps;
    if (this.#closed || elapsed() < this.#restUntil) {
      return 'not now';
    }
    this.#running = this.#run();
    const outcome = await this.#running;
    this.#endedAt = elapsed();
    this.#running = null;
    return outcome;
  }

  /** Since when the lane has done nothing, on the clock that never goes back; null while it runs. */
  get idleSince(): number | null {
    return this.#running === null ? this.#endedAt : null;
  }

  /** What waits in the lane for another moment, as far as it is known: of a lane that is ours. */
  get parked(): Parked[] {
    return this.#lease?.isLive() === true ? this.#offers.parked() : [];
  }

  /** Gives the lease back, if the lane has it. */
  async release(): Promise<void> {
    this.#forget();
    await this.#lease?.release();
    this.#lease = null;
  }

  /** Ends after the step under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<LaneWake> {
    try {
      const lease = await this.#deps.leases.hold(this.#key);
      if (lease === undefined) {
        return 'elsewhere';
      }
      if (lease !== this.#lease) this.#forget();
      this.#lease = lease;
      do {
        this.#again = false;
        while (this.#mayGoOn(lease) && (await this.#step(lease))) {
          this.#faults = 0;
        }
      } while (this.#again && this.#mayGoOn(lease));
    } catch (error) {
      if (error instanceof LeaseLost) {
        this.#deps.log.info({ lane: this.#key }, 'lane is no longer ours');
        await this.release();
      } else {
        this.#rest(error);
      }
    }
    return 'ran';
  }

  /** While the lane is another's, what is known of its transactions may come to an end unseen. */
  #forget(): void {
    this.#open = null;
    this.#offers = new OfferBook();
    this.#pool = new PoolWatch();
    this.#ages = new Ages();
    this.#planner = new SequencePlanner(this.#deps.timing, this.#deps.heard(this.#key));
  }

  #mayGoOn(lease: HeldLease): boolean {
    return !this.#closed && lease.isLive();
  }

  #rest(error: unknown): void {
    this.#open = null;
    const { log, timing, random, elapsed, onFault } = this.#deps;
    log.error({ err: error, lane: this.#key }, 'lane step failed');
    onFault(this.#key.split(':', 1)[0] ?? '');
    this.#faults += 1;
    this.#restUntil = elapsed() + backOff(this.#faults, timing, random);
  }

  /** @returns false when nothing is due, or nothing that can be done now */
  async #step(lease: HeldLease): Promise<boolean> {
    const { store, timing, elapsed } = this.#deps;
    const now = await store.now();
    const step = await this.#begin(now, lease);

    const placed = [...step.open.values()].filter((entry) => isLookedAt(step, entry) && isDue(step, entry));
    await look(step, placed);
    const settled = await carryOut(step, await store.read.intents(this.#key, timing.inFlight));

    const room = Math.max(timing.inFlight - withinReach(step).length, 0);
    const pending = room === 0 ? [] : await store.read.duePending(this.#key, now, Math.min(timing.batch, room));
    if (pending.length > 0) step.reach('found');
    const waits = placed.length > 0 || unmined(step).some((entry) => isMissing(step, entry));
    const mayHaveGaps = waits && (pending.length === 0 || this.#planner.isContradicted);
    const renewed = (await renew(step)) + (mayHaveGaps ? await fillGaps(step) : 0);
    await tellStranded(step);
    await markMissing(step);
    // While the node is offered one batch, the next is priced and signed; what that one signs is offered in the next step.
    const { offered, notTaken } = await bothDone(offer(step), takeUp(step, pending));
    await look(step, notTaken);

    const moved = placed.length + settled + pending.length + renewed + offered > 0;
    if (!moved) {
      this.#restUntil = elapsed() + timing.lookMs;
    }
    return moved;
  }

  async #begin(now: number, lease: HeldLease): Promise<LaneStep> {
    const { store, sources, timing, random, log, ledgerUnder, elapsed, newId, reach } = this.#deps;
    const began = elapsed();
    this.#open ??= await OpenBook.read(store.read, this.#key);
    const open = this.#open;
    let isDoubted = false;
    const distrust = () => {
      isDoubted = true;
      this.#open = null;
    };
    return {
      key: this.#key,
      ledger: ledgerUnder(lease, distrust),
      senders: new Senders(sources, this.#key),
      planner: this.#planner,
      offers: this.#offers,
      pool: this.#pool,
      ages: this.#ages,
      open: open.entries,
      now: () => now + Math.round(elapsed() - began),
      elapsed,
      chainTime: (ask) => this.#chainClock.at(ask, { elapsed, keepMs: timing.momentMs, log }),
      isEnding: () => isDoubted || !this.#mayGoOn(lease),
      knownSequence: () => store.read.laneSequence(this.#key),
      settled: () => open.settled(),
      fillers: () => open.fillers(),
      filled: (filler) => open.filled(filler),
      find: (id) => store.read.transactionOfLane(this.#key, id),
      budgeted: (ids) => store.read.budgeted(ids),
      ended: ({ sequence }) => open.ended(sequence, now + Math.round(elapsed() - began)),
      distrust,
      newId,
      reach,
      timing,
      random,
      log,
    };
  }
}

/** Whether it is looked for on the chain, also when it is not to be offered now. */
function isLookedAt(step: LaneStep, entry: OpenEntry): boolean {
  return isPlaced(entry) || isAside(step, entry) || step.planner.isStranded(entry.transaction.sequence);
}

/** Whether nodes did not take it, which may be for want of a lower sequence, and it is to be offered again. */
function isMissing(step: LaneStep, entry: OpenEntry): boolean {
  return !isPlaced(entry) && isDue(step, entry) && step.offers.wasNotTaken(entry.transaction.id);
}

/** Whether a node has had a version of it, so that it may be in a block. */
function isPlaced({ transaction, attempts }: OpenEntry): boolean {
  return transaction.status !== 'sent' || attempts.some(({ acceptedAt }) => acceptedAt !== null);
}

/** The first's result once both have ended: a failure of one must not leave the other running unattended. */
async function bothDone<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await Promise.allSettled([first, second]);
  await second;
  return first;
}
