import type { Niceness } from './niceness.ts';

/** What the driver sees of a child at one look. */
export interface Exertion {
  /** Milliseconds of a monotonic clock. */
  now: number;
  /** Whether the child is starting still. */
  starting: boolean;
  /** Since when it has been inside the guest, on the same clock; null when it is outside. */
  insideSince: number | null;
  /** Whether it is inside to evaluate a module, on no call's behalf. */
  evaluating: boolean;
  /** Processor time of its process so far, in milliseconds; 0 where it cannot be told. */
  takenMs: number;
}

/** How the system is told. */
export type ChildNiceness = Pick<Niceness, 'comesBack' | 'setGroup' | 'setProcess' | 'close'>;

/** By how much the nice value of a child is above the service's own: usually, and while it starts, ends or is busy. */
const USUAL = 0;
const BEHIND = 5;
/**
 * Nice values of a child by the processor time that it has taken since it entered the guest, in milliseconds. The clock
 * does not count: an honest plugin seldom works that long, and since its limits are ones of the wall clock, it must get
 * on even where others need all of the machine.
 */
const BY_STRETCH: readonly (readonly [longerThanMs: number, nice: number])[] = [
  [250, 19],
  [100, 10],
  [20, BEHIND],
];
/** Who takes so much of a core, as a mean over about this time, by calls as short as may be, does not go before others. */
const MUCH = 0.5;
const MEAN_MS = 250;
/** What stretches add at most where it cannot be taken back. */
const MOST_FOR_GOOD = 10;
/** For how long a child must have been modest before it gets its priority back. */
const HOLD_MS = 300;
/** A start that takes longer is waited for, on a machine that has little time left. */
const PATIENT_START_MS = 500;

/**
 * Puts a child that hogs the processor behind everybody else, and gives it its turn back when it stops: on a machine
 * with time to spare nothing changes for it.
 *
 * A new child is behind the service and the others until a call has left its guest for the first time: attacks mostly
 * begin at once, in a new process, because each attacker's process is killed. It is no further behind than others that
 * work as long, for else an honest call would not end in time and be killed as well.
 *
 * Where the system does not let a process have its priority back, a child stays that much behind for good, and falls
 * further behind only by the time that it really took. Loading its plugin, before the first call, does not count: that
 * happens once, and has a time limit of its own.
 */
export class Priority {
  readonly #niceness: ChildNiceness;
  readonly #beganAt: number;
  #proven = false;
  #lookedAt: number;
  #takenMs = 0;
  #share = 0;
  /** Of the stretch that is seen: its beginning, and what the process had taken at the look before. */
  #stretch: { since: number; takenMs: number } | null = null;
  /** What its stretches make due to the child, and since when nothing lower was. */
  #nice = USUAL;
  #setAt = Number.NEGATIVE_INFINITY;

  /**
   * @param niceness of a child that was started just now
   * @param now milliseconds of a monotonic clock
   */
  constructor(niceness: ChildNiceness, now: number) {
    this.#niceness = niceness;
    this.#beganAt = now;
    this.#lookedAt = now;
    niceness.setGroup(BEHIND);
    niceness.setProcess(BEHIND);
  }

  /** A call has left the guest. One that was put out counts too: it may be an honest one that was kept waiting. */
  prove(): void {
    this.#proven = true;
  }

  /** Judges the child by what is seen of it, and tells the system. */
  look({ now, starting, insideSince, evaluating, takenMs }: Exertion): void {
    if (starting) {
      this.#pass(now, takenMs);
      // When it was told first, there may have been no process yet.
      if (takenMs > 0) this.#niceness.setProcess(BEHIND);
      return this.#niceness.setGroup(now - this.#beganAt > PATIENT_START_MS ? USUAL : BEHIND);
    }
    const stretchMs = this.#stretchOf(now, insideSince, takenMs);
    const loads = evaluating && !this.#proven;
    if (loads) this.#pass(now, takenMs);
    else this.#weigh(now, takenMs);
    const takesMuch = this.#share > MUCH;
    const [, nice] = BY_STRETCH.find(([ms]) => stretchMs > ms) ?? [0, takesMuch ? BEHIND : USUAL];
    if (nice >= this.#nice || now - this.#setAt >= HOLD_MS) {
      this.#nice = nice;
      this.#setAt = now;
    }
    const due = this.#proven ? this.#nice : Math.max(BEHIND, this.#nice);
    this.#niceness.setGroup(due);
    // The processor time was read of the process itself: its id is not another's yet.
    if (takenMs > 0) this.#niceness.setProcess(this.#niceness.comesBack ? due : this.#lasting(loads ? USUAL : nice));
  }

  /** Nothing more is looked at: lets the process end in good time. Safe to call twice. */
  close(): void {
    this.#niceness.close(BEHIND);
  }

  /** What is due to it for good: an honest call that was long once must not keep its plugin behind all others. */
  #lasting(nice: number): number {
    if (this.#share > MUCH) return BEHIND + Math.min(nice, MOST_FOR_GOOD);
    return nice > (this.#proven ? MOST_FOR_GOOD : BEHIND) ? 2 * BEHIND : BEHIND;
  }

  /** What of the processor the present stretch has taken, as far as looks can tell: never less. */
  #stretchOf(now: number, since: number | null, takenMs: number): number {
    if (since === null) this.#stretch = null;
    else if (this.#stretch?.since !== since) this.#stretch = { since, takenMs: this.#takenMs };
    return this.#stretch === null ? 0 : Math.min(now - this.#stretch.since, takenMs - this.#stretch.takenMs);
  }

  /** The share of a core that the process took, where what is long ago counts less. */
  #weigh(now: number, takenMs: number): void {
    const pastMs = now - this.#lookedAt;
    if (pastMs <= 0) return;
    const share = Math.max(0, takenMs - this.#takenMs) / pastMs;
    this.#share += (share - this.#share) * (1 - Math.exp(-pastMs / MEAN_MS));
    this.#pass(now, takenMs);
  }

  /** What was taken until now is not weighed later. */
  #pass(now: number, takenMs: number): void {
    this.#lookedAt = now;
    this.#takenMs = takenMs;
  }
}
