import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** What the driver sees of a child at one look. */
export interface Exertion {
  /** Milliseconds of a monotonic clock. */
  now: number;
  /** Whether the child is starting still. */
  starting: boolean;
  /** Since when it has been inside the guest, on the same clock; null when it is outside. */
  insideSince: number | null;
  /** Processor time of its process so far, in milliseconds; 0 where it cannot be told. */
  takenMs: number;
}

/** The nice values of the service's own process and, where there are such, of its scheduling group. */
export interface ServiceNice {
  process: number;
  group: number;
}

/** By how much the nice value of a child is above the service's own: usually, and while it starts, ends or is busy. */
const USUAL = 0;
const BEHIND = 5;
const HIGHEST_NICE = 19;
/**
 * Nice values of a child by the processor time that it has taken since it went inside the guest, in milliseconds. The
 * work of an honest plugin is seldom that long and, since its limits are ones of the wall clock, must get on even where
 * others need all of the machine: so it is not the clock that counts here.
 */
const BY_STRETCH: readonly (readonly [longerThanMs: number, nice: number])[] = [
  [250, 19],
  [100, 10],
  [20, BEHIND],
];
/** Who takes so much of a core, as a mean over about this time, by calls as short as may be, does not go before others. */
const MUCH = 0.5;
const MEAN_MS = 250;
/** For how long a child must have been modest before it gets its priority back. */
const HOLD_MS = 300;
/** A start that takes longer is waited for, on a machine that has little time left. */
const PATIENT_START_MS = 500;

/**
 * Has a child that hogs the processor wait for everybody else, and gives it its turn back when it does so no longer:
 * on a machine with time to spare nothing changes for it.
 *
 * Each child is a session of its own. Where Linux schedules sessions as groups (sched(7), "The autogroup feature"), the
 * nice value of a process says nothing against other sessions, and the value of its group is what counts; elsewhere, as
 * in a container, it is the other way round. So both are set. That of a group may be raised again by everybody, that
 * of a process by the privileged only: it is set later, on the account of what the process really took, and may stay.
 */
export class Priority {
  readonly #pid: () => number | undefined;
  readonly #beganAt: number;
  readonly #service: ServiceNice;
  #groupFd: number | undefined;
  #group = USUAL;
  #process = USUAL;
  #fixed = false;
  #lookedAt: number;
  #takenMs = 0;
  #share = 0;
  /** Of the stretch that is seen: its beginning, and what the process had taken at the look before. */
  #stretch: { since: number; takenMs: number } | null = null;
  /** What is due to the child, and since when nothing lower was. */
  #nice = USUAL;
  #setAt = Number.NEGATIVE_INFINITY;

  /**
   * @param pid of the process whose priority it is, asked until it is known
   * @param now milliseconds of a monotonic clock
   */
  constructor(pid: () => number | undefined, now: number, service: ServiceNice = serviceNice()) {
    this.#pid = pid;
    this.#service = service;
    this.#beganAt = now;
    this.#lookedAt = now;
  }

  /** Judges the child by what is seen of it, and tells the system. */
  look({ now, starting, insideSince, takenMs }: Exertion): void {
    if (starting) {
      this.#takenMs = takenMs;
      this.#lookedAt = now;
      return this.#setGroup(now - this.#beganAt > PATIENT_START_MS ? USUAL : BEHIND);
    }
    const stretchMs = this.#stretchOf(now, insideSince, takenMs);
    this.#weigh(now, takenMs);
    const takesMuch = this.#share > MUCH;
    const [, nice] = BY_STRETCH.find(([ms]) => stretchMs > ms) ?? [0, takesMuch ? BEHIND : USUAL];
    if (nice >= this.#nice || now - this.#setAt >= HOLD_MS) {
      this.#nice = nice;
      this.#setAt = now;
    }
    this.#setGroup(this.#nice);
    // The processor time was read of the process itself: its id is not another's yet.
    if (takenMs > 0 && (takesMuch || this.#nice === USUAL)) this.#setProcess(this.#nice);
  }

  /** Nothing more is looked at: lets the process end in good time. Safe to call twice. */
  close(): void {
    if (this.#group > BEHIND) this.#setGroup(BEHIND);
    if (this.#groupFd !== undefined) closeSync(this.#groupFd);
    this.#groupFd = undefined;
    this.#group = USUAL;
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
    this.#lookedAt = now;
    this.#takenMs = takenMs;
  }

  #setGroup(nice: number): void {
    if (nice === this.#group) return;
    try {
      const pid = this.#pid();
      // An open file stays with its process, whoever gets the process id later.
      if (this.#groupFd === undefined && pid !== undefined) this.#groupFd = openSync(`/proc/${pid}/autogroup`, 'w');
      if (this.#groupFd === undefined) return;
      writeSync(this.#groupFd, String(Math.min(HIGHEST_NICE, this.#service.group + nice)));
      this.#group = nice;
    } catch {
      // The process is gone, the system has no such groups, or the next change is allowed in 100 ms: see the next look.
    }
  }

  #setProcess(nice: number): void {
    if (nice === this.#process || this.#fixed) return;
    const pid = this.#pid();
    if (pid === undefined) return;
    try {
      // To Linux each thread has its own; those to come have that of the one that starts them.
      const value = Math.min(HIGHEST_NICE, this.#service.process + nice);
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), value);
      this.#process = nice;
    } catch {
      // The process is gone, or only the privileged may raise it again.
      this.#fixed = true;
    }
  }
}

function serviceNice(): ServiceNice {
  const process = getPriority();
  try {
    return { process, group: Number(/nice (-?\d+)/.exec(readFileSync('/proc/self/autogroup', 'utf8'))?.[1] ?? 0) };
  } catch {
    return { process, group: 0 };
  }
}
