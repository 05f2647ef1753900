import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** The processes of a child, each asked for until it is known. */
export interface ChildPids {
  /** The one that was started: every other is in its session. */
  readonly startedPid: number | undefined;
  /** The one that runs node. */
  readonly memoryPid: number | undefined;
}

/** The nice values of the service's own process and, where there are such, of its scheduling group. */
export interface ServiceNice {
  readonly process: number;
  readonly group: number;
  /** Whether the system lets it raise a process again that it has lowered. */
  readonly comesBack: boolean;
}

const HIGHEST_NICE = 19;
/** What `RLIMIT_NICE` is counted from: getrlimit(2). */
const RLIMIT_ORIGIN = 20;

/**
 * Tells the system the nice value of a child, counted from the service's own.
 *
 * Each child is a session of its own. Where Linux schedules sessions as groups (sched(7), "The autogroup feature"),
 * only the group's nice value counts against other sessions; elsewhere, as in a container, only the process's own does.
 * So both are set. Everybody may give a group its priority back, a process only the privileged, and those whose
 * `RLIMIT_NICE` allows it.
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

  /** Whether the value of the process, once lowered, may be raised again. */
  get comesBack(): boolean {
    return this.#service.comesBack;
  }

  /** Sets the value of the child's scheduling group, where it has one. */
  setGroup(nice: number): void {
    if (nice === this.#group) return;
    try {
      const pid = this.#pids.startedPid;
      // An open file stays with its process, whoever gets the process id later.
      if (this.#groupFd === undefined && pid !== undefined) this.#groupFd = openSync(`/proc/${pid}/autogroup`, 'w');
      if (this.#groupFd === undefined) return;
      writeSync(this.#groupFd, String(Math.min(HIGHEST_NICE, this.#service.group + nice)));
      this.#group = nice;
    } catch {
      // The process is gone, the system has no such groups, or the next change is allowed in 100 ms: see the next look.
    }
  }

  /** Sets the value of all threads of the child's process; to be called while that is known to be there. */
  setProcess(nice: number): void {
    if (nice === this.#process || this.#fixed) return;
    if (nice < this.#process && !this.comesBack) return;
    const pid = this.#pids.memoryPid ?? this.#pids.startedPid;
    if (pid === undefined) return;
    try {
      // To Linux each thread has its own; those to come have that of the one that starts them.
      const value = Math.min(HIGHEST_NICE, this.#service.process + nice);
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), value);
      this.#process = nice;
    } catch {
      // The process is gone, or it may not be raised again.
      this.#fixed = true;
    }
  }

  /** Raises the group to this value if it is lower, and says no more. Safe to call twice. */
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

/** Tried out, since a capability may be one of a namespace that has no say here: this thread goes up by one, and back. */
function isPrivileged(nice: number): boolean {
  try {
    setPriority(nice - 1);
    setPriority(nice);
    return true;
  } catch {
    return false;
  }
}

/** The limit as Linux tells it; 0, the usual one, elsewhere. */
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
