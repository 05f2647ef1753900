import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** What the driver sees of a child at one look. */
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

/** How the nice values of the child are set. */
export type ChildNiceness = Pick<Niceness, 'comesBack' | 'setGroup' | 'setProcess' | 'close'>;

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
      // Sets it again: at the first attempt the process may not have existed yet.
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
    // The process is alive, as its processor time was just read: no other process has its id.
    if (takenMs > 0) this.#niceness.setProcess(this.#niceness.comesBack ? due : this.#lasting(loads ? USUAL : nice));
  }

  /** Stops judging, and raises the group's priority so that the process can end soon. Safe to call twice. */
  close(): void {
    this.#niceness.close(BEHIND);
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

/** The process ids of a child. Each getter is called until the id is known. */
export interface ChildPids {
  /** The process that was started. Every other process of the child is in its session. */
  readonly startedPid: number | undefined;
  /** The process that runs node. */
  readonly memoryPid: number | undefined;
}

/** The nice values of the service: of its own process and, if it has one, of its scheduling group. */
export interface ServiceNice {
  readonly process: number;
  readonly group: number;
  /** Whether the system lets the service raise the priority of a process that it has lowered. */
  readonly comesBack: boolean;
}

const MAX_NICE = 19;
/** `RLIMIT_NICE` is 20 minus the lowest nice value allowed: getrlimit(2). */
const RLIMIT_ORIGIN = 20;

/**
 * Sets the nice value of a child, relative to the service's own.
 *
 * Each child is a session of its own. Where Linux schedules sessions as groups (sched(7), "The autogroup feature"),
 * only the group's nice value counts against other sessions. Elsewhere, as in a container, only the process's own
 * counts. So both are set. Any process may raise a group's priority again. Raising a process's priority needs
 * privileges or a sufficient `RLIMIT_NICE`.
 */
export class Niceness {
  readonly #pids: ChildPids;
  readonly #service: ServiceNice;
  #groupFd: number | undefined;
  #group = 0;
  #process = 0;
  #fixed = false;

  constructor(pids: ChildPids, service: ServiceNice = serviceNice()) {
    this.#pids = pids;
    this.#service = service;
  }

  /** Whether the priority of the process can be raised again after it was lowered. */
  get comesBack(): boolean {
    return this.#service.comesBack;
  }

  /** Sets the value of the child's scheduling group, where it has one. */
  setGroup(nice: number): void {
    if (nice === this.#group) return;
    try {
      const pid = this.#pids.startedPid;
      // An open file stays with this process even if another process gets its id later.
      if (this.#groupFd === undefined && pid !== undefined) this.#groupFd = openSync(`/proc/${pid}/autogroup`, 'w');
      if (this.#groupFd === undefined) return;
      writeSync(this.#groupFd, String(Math.min(MAX_NICE, this.#service.group + nice)));
      this.#group = nice;
    } catch {
      // The process is gone, the system has no such groups, or the next change is allowed in 100 ms: see the next look.
    }
  }

  /** Sets the value of all threads of the child's process. Call it only while the process is known to be alive. */
  setProcess(nice: number): void {
    if (nice === this.#process || this.#fixed) return;
    if (nice < this.#process && !this.comesBack) return;
    const pid = this.#pids.memoryPid ?? this.#pids.startedPid;
    if (pid === undefined) return;
    try {
      // On Linux each thread has its own nice value; a new thread inherits its creator's.
      const value = Math.min(MAX_NICE, this.#service.process + nice);
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), value);
      this.#process = nice;
    } catch {
      // The process is gone, or it may not be raised again.
      this.#fixed = true;
    }
  }

  /** Raises the group's priority to `leastUrgent` if it is lower, then stops. Safe to call twice. */
  close(leastUrgent: number): void {
    if (this.#group > leastUrgent) this.setGroup(leastUrgent);
    if (this.#groupFd !== undefined) closeSync(this.#groupFd);
    this.#groupFd = undefined;
    this.#group = 0;
  }
}

function serviceNice(): ServiceNice {
  const process = getPriority();
  const comesBack = isPrivileged(process) || niceLimit() >= RLIMIT_ORIGIN - process;
  return { process, group: ownGroupNice(), comesBack };
}

/**
 * Raises this thread's priority by one and sets it back. A check of capabilities would not do: a capability may belong
 * to a namespace that has no say here.
 */
function isPrivileged(nice: number): boolean {
  try {
    setPriority(nice - 1);
    setPriority(nice);
    return true;
  } catch {
    return false;
  }
}

/** The limit `RLIMIT_NICE` on Linux; 0, the usual limit, elsewhere. */
function niceLimit(): number {
  return numberIn('/proc/self/limits', /^Max nice priority +(\d+|unlimited)/m);
}

function ownGroupNice(): number {
  return numberIn('/proc/self/autogroup', /nice (-?\d+)/);
}

function numberIn(file: string, pattern: RegExp): number {
  try {
    const [, text = '0'] = pattern.exec(readFileSync(file, 'utf8')) ?? [];
    return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  } catch {
    return 0;
  }
}
