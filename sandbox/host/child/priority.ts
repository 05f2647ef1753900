/** What the host sees of a child at one look. */
export interface CpuLoadSample {
  /** Milliseconds of a monotonic clock. */
  now: number;
  /** Whether the child is still starting. */
  starting: boolean;
  /** When it entered the guest, on the same clock; null when it is outside. */
  insideSince: number | null;
  /** Whether it is inside to evaluate a module, outside any call. */
  evaluating: boolean;
  /** Processor time of its process so far, in milliseconds; 0 where it cannot be told. */
  takenMs: number;
}

/** The nice values that the child should have, relative to the service's own. */
export interface ChildNiceness {
  /** Whether the priority of the process can be raised again after it was lowered. */
  readonly comesBack: boolean;
  /** Of the child's scheduling group. */
  setGroup(nice: number): void;
  /** Of all threads of its process. Called only while the process is known to be alive. */
  setProcess(nice: number): void;
}

/** How far the nice value of a child is above the service's own: usually, and while it starts, ends or is busy. */
const USUAL = 0;
const BEHIND = 5;
/**
 * Nice values of a child by the processor time that it took since it entered the guest, in milliseconds. Wall time does
 * not count: an honest plugin seldom works that long. But its limits are limits of wall time, so it must make progress
 * even when others need the whole machine.
 */
const BY_STRETCH: readonly (readonly [longerThanMs: number, nice: number])[] = [
  [250, 19],
  [100, 10],
  [20, BEHIND],
];
/**
 * A child that takes more than this share of a core goes behind others, however short its calls are. The share is a
 * mean over about `MEAN_MS` milliseconds.
 */
const MUCH = 0.5;
const MEAN_MS = 250;
/** The most that long stretches add to the nice value where the priority cannot be raised again. */
const MAX_FOR_GOOD = 10;
/** How long a child must stay within lower limits before it gets its priority back, in milliseconds. */
const HOLD_MS = 300;
/** A start that takes longer gets the usual priority, in milliseconds: the machine is busy. */
const PATIENT_START_MS = 500;

/**
 * Puts a child that hogs the processor behind everybody else, and restores its priority when it stops. On a machine
 * with idle processors the child runs as before.
 *
 * A new child stays behind the service and the other children until a call has left its guest for the first time. Most
 * attacks begin at once in a new process, because each attacker's process is killed. A new child is no further behind
 * than other children that work as long. Otherwise an honest call would miss its time limit and be killed as well.
 *
 * Where the system does not let a process have its priority back, a child stays that far behind permanently. It then
 * falls further behind only by the processor time that it really took. Loading its plugin before the first call does
 * not count: loading happens once and has a time limit of its own.
 */
export class ChildPriority {
  readonly #niceness: ChildNiceness;
  readonly #beganAt: number;
  #proven = false;
  #lookedAt: number;
  #takenMs = 0;
  #share = 0;
  /** The present stretch: when it began, and the processor time of the process at the look before. */
  #stretch: { since: number; takenMs: number } | null = null;
  /** The nice value that the child's stretches call for, and since when no lower value was called for. */
  #nice = USUAL;
  #setAt = Number.NEGATIVE_INFINITY;

  /**
   * @param niceness of a child that was just started
   * @param now milliseconds of a monotonic clock
   */
  constructor(niceness: ChildNiceness, now: number) {
    this.#niceness = niceness;
    this.#beganAt = now;
    this.#lookedAt = now;
    niceness.setGroup(BEHIND);
    niceness.setProcess(BEHIND);
  }

  /** A call has left the guest. A call that was ended by force counts too: it may be an honest one that had to wait. */
  prove(): void {
    this.#proven = true;
  }

  /** Judges the child by this look and sets its nice values. */
  look({ now, starting, insideSince, evaluating, takenMs }: CpuLoadSample): void {
    if (starting) {
      this.#pass(now, takenMs);
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
    // The process is alive, as its processor time was just read: no other process has its id.
    if (takenMs > 0) this.#niceness.setProcess(this.#niceness.comesBack ? due : this.#lasting(loads ? USUAL : nice));
  }

  /**
   * The nice value where the priority cannot be raised again. One long stretch of an honest call must not keep its
   * plugin behind all others.
   */
  #lasting(nice: number): number {
    if (this.#share > MUCH) return BEHIND + Math.min(nice, MAX_FOR_GOOD);
    return nice > (this.#proven ? MAX_FOR_GOOD : BEHIND) ? 2 * BEHIND : BEHIND;
  }

  /** The most processor time that the present stretch can have taken, as measured at the looks. */
  #stretchOf(now: number, since: number | null, takenMs: number): number {
    if (since === null) this.#stretch = null;
    else if (this.#stretch?.since !== since) this.#stretch = { since, takenMs: this.#takenMs };
    return this.#stretch === null ? 0 : Math.min(now - this.#stretch.since, takenMs - this.#stretch.takenMs);
  }

  /** Updates the mean share of a core that the process takes. Older times count less. */
  #weigh(now: number, takenMs: number): void {
    const pastMs = now - this.#lookedAt;
    if (pastMs <= 0) return;
    const share = Math.max(0, takenMs - this.#takenMs) / pastMs;
    this.#share += (share - this.#share) * (1 - Math.exp(-pastMs / MEAN_MS));
    this.#pass(now, takenMs);
  }

  /** Marks the processor time until now as counted. */
  #pass(now: number, takenMs: number): void {
    this.#lookedAt = now;
    this.#takenMs = takenMs;
  }
}
