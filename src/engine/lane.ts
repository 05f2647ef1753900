import type { Store } from '../store/store.ts';
import { takeUp } from './intake.ts';
import { isDue, type LaneStep, unmined } from './lane-step.ts';
import { look } from './looking.ts';
import { OfferBook } from './offer-book.ts';
import { offer } from './offering.ts';
import { type SenderSources, Senders } from './sender.ts';
import { SequencePlanner } from './sequence-planner.ts';
import { backOff } from './timing.ts';

export interface LaneDeps extends Pick<LaneStep, 'timing' | 'random' | 'log' | 'ledger' | 'elapsed'> {
  store: Store;
  sources: SenderSources;
  /** Called with the network type when a step ended unexpectedly. */
  onFault(networkType: string): void;
}

/**
 * The one owner of an account's order on one chain. It runs while the store has something due for it, one step at a
 * time, and keeps nothing in memory but hints.
 */
export class Lane {
  readonly #key: string;
  readonly #deps: LaneDeps;
  readonly #planner: SequencePlanner;
  readonly #offers = new OfferBook();
  #running: Promise<void> | null = null;
  #again = false;
  #closed = false;
  #faults = 0;
  #restUntil = 0;

  constructor(key: string, deps: LaneDeps) {
    this.#key = key;
    this.#deps = deps;
    this.#planner = new SequencePlanner(deps.timing.driftMs);
  }

  /**
   * Runs the lane until it has nothing more to do now.
   * @returns false when it was running already, rests, or is closed
   */
  async wake(): Promise<boolean> {
    if (this.#running !== null) {
      this.#again = true;
      return false;
    }
    if (this.#closed || this.#deps.elapsed() < this.#restUntil) {
      return false;
    }
    this.#running = this.#run();
    await this.#running;
    this.#running = null;
    return true;
  }

  /** Ends after the step under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false;
        while (!this.#closed && (await this.#step())) {
          this.#faults = 0;
        }
      } while (this.#again && !this.#closed);
    } catch (error) {
      const { log, timing, random, elapsed, onFault } = this.#deps;
      log.error({ err: error, lane: this.#key }, 'lane step failed');
      onFault(this.#key.split(':', 1)[0] ?? '');
      this.#faults += 1;
      this.#restUntil = elapsed() + backOff(this.#faults, timing, random);
    }
  }

  /** @returns false when nothing is due, or nothing that can be done now */
  async #step(): Promise<boolean> {
    const { store, timing, elapsed } = this.#deps;
    const now = await store.now();
    const due = await store.read.dueTransactions(this.#key, now, timing.batch);
    if (due.length === 0) {
      return false;
    }
    const step = await this.#begin(now);

    const placed = [...step.open.values()].filter((entry) => entry.transaction.status !== 'sent' && isDue(step, entry));
    await look(step, placed);

    const room = Math.max(timing.inFlight - unmined(step).length, 0);
    const pending = due.filter(({ status }) => status === 'pending').slice(0, room);
    // While the node is offered one batch, the next is priced and signed; what that one signs is offered in the next step.
    const { offered, notTaken } = await bothDone(offer(step), takeUp(step, pending));
    await look(step, notTaken);

    const moved = placed.length + pending.length + offered > 0;
    if (!moved) {
      this.#restUntil = elapsed() + timing.lookMs;
    }
    return moved;
  }

  async #begin(now: number): Promise<LaneStep> {
    const { store, sources, timing, random, log, ledger, elapsed } = this.#deps;
    const began = elapsed();
    const entries = await store.read.openTransactions(this.#key);
    return {
      key: this.#key,
      ledger,
      senders: new Senders(sources),
      planner: this.#planner,
      offers: this.#offers,
      open: new Map(entries.map((entry) => [entry.transaction.id, entry])),
      now: () => now + Math.round(elapsed() - began),
      elapsed,
      isEnding: () => this.#closed,
      knownSequence: () => store.read.laneSequence(this.#key),
      timing,
      random,
      log,
    };
  }
}

/** The first's result once both have ended: a failure of one must not leave the other running unattended. */
async function bothDone<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await Promise.allSettled([first, second]);
  await second;
  return first;
}
