import type { Reader } from '../ledger/state.ts';
import type { Frame } from '../transactions/frame.ts';
import { type Bench, judge } from '../transactions/validity.ts';
import type { ClosedLedger } from './closed-ledger.ts';
import type { Ledger } from './ledger.ts';
import type { Crowd } from './limiter.ts';
import { type Admission, TransactionQueue } from './queue.ts';

/** The expected seconds of a ledger, and the number of ledgers for which an accepted transaction must stay valid. */
const EXPECTED_CLOSE = 5n;
const MARGIN = 2n;

/** The size of a queue, in ledgers' worth of transactions. */
const QUEUED_LEDGERS = 2;

export interface Surroundings {
  readonly ledger: Ledger;
  readonly capacity: { readonly classic: number; readonly soroban: number };
  readonly crowd: Crowd;
  now(): bigint;
}

/** One node of the network, with its view of the chain and its waiting transactions. */
export class Node {
  /** Ledgers that the node has not seen yet. */
  behind: number;
  readonly #surroundings: Surroundings;
  #classic = new TransactionQueue();
  #soroban = new TransactionQueue();
  #seen: number;

  constructor(surroundings: Surroundings, behind = 0) {
    this.#surroundings = surroundings;
    this.behind = behind;
    this.#seen = this.latest.sequence;
  }

  get ledger(): Ledger {
    return this.#surroundings.ledger;
  }

  get now(): bigint {
    return this.#surroundings.now();
  }

  /** The newest ledger that the node knows. */
  get latest(): ClosedLedger {
    const { ledger } = this.#surroundings;
    return ledger.at(ledger.latest.sequence - this.behind) ?? ledger.first;
  }

  get state(): Reader {
    return this.ledger.history.at(this.latest.sequence);
  }

  /** Accepts a transaction, or returns the reason for its refusal. */
  add(frame: Frame): Admission {
    const { crowd, capacity } = this.#surroundings;
    const [own, other] = frame.isSoroban ? [this.#soroban, this.#classic] : [this.#classic, this.#soroban];
    if (other.isPending(frame.source)) return { status: 'TRY_AGAIN_LATER' };
    const [most, crowded] = frame.isSoroban ? [capacity.soroban, NOBODY] : [capacity.classic, crowd];
    return own.add(frame, this.#admissionBench(), { most: most * QUEUED_LEDGERS, crowd: crowded });
  }

  get waiting(): Frame[] {
    return [...this.#classic.frames, ...this.#soroban.frames];
  }

  /** The waiting transactions that could be applied at a time. Removes the rest. */
  candidates(closeTime: bigint): Frame[] {
    const { latest } = this;
    const offset = closeTime - latest.closeTime;
    const bench = { ...this.#admissionBench(), earliest: offset, latest: offset };
    for (const queue of [this.#classic, this.#soroban]) {
      queue.dropInvalid((frame) => judge(frame, bench).isSuccess);
    }
    return this.waiting;
  }

  /** Catches up with the chain as far as the node sees it. */
  observe(): void {
    while (this.#seen < this.latest.sequence) {
      this.#seen += 1;
      const applied = this.ledger.at(this.#seen)?.landed.map(({ frame }) => frame) ?? [];
      const bench = this.#admissionBench();
      for (const queue of [this.#classic, this.#soroban]) {
        queue.removeApplied(applied);
        queue.age();
        queue.dropInvalid((frame) => judge(frame, bench).isSuccess);
      }
    }
  }

  /** Forgets everything, as when the chain starts again. */
  restart(): void {
    this.#classic = new TransactionQueue();
    this.#soroban = new TransactionQueue();
    this.#seen = this.latest.sequence;
  }

  /** The conditions for accepting a transaction: it must still be valid when the next ledgers close. */
  #admissionBench(): Bench {
    const { latest, now } = this;
    const drift = now > latest.closeTime ? now - latest.closeTime : 0n;
    return {
      state: this.state,
      header: latest,
      ledger: latest.sequence + 1,
      earliest: 0n,
      latest: EXPECTED_CLOSE * MARGIN + drift,
      isApplying: false,
    };
  }
}

const NOBODY: Crowd = { operations: 0, bid: 0n };
