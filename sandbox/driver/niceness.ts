import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

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

  constructor(pids: ChildPids, service: ServiceNice) {
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

/** The nice values of this service, as this thread finds them. */
export function serviceNice(): ServiceNice {
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
