/** How many jobs run at once. The process's other threads stay free for Node's own work. */
const MAX_RUNNING = 2;
/** Most memory of all running jobs together. */
const MAX_MEMORY_BYTES = 192 * 1_048_576;

/** A job that runs on another thread. */
export interface Job {
  readonly memoryBytes: number;
  /** Starts the job. `done` is called once, when it is over. */
  start(done: () => void): void;
}

/**
 * The jobs of all calls of a process. Each call has at most one running job. The next job to begin belongs to the call
 * that has waited longest, so a call with many jobs does not stop other calls.
 */
export class JobQueue {
  /** Waiting jobs by owner. An owner moves to the end when one of its jobs is over. */
  readonly #waiting = new Map<object, Job[]>();
  readonly #busy = new Set<object>();
  #running = 0;
  #memoryBytes = 0;

  add(owner: object, job: Job): void {
    const jobs = this.#waiting.get(owner);
    if (jobs === undefined) this.#waiting.set(owner, [job]);
    else jobs.push(job);
    this.#next();
  }

  /** Drops an owner's waiting jobs. Running jobs continue. Safe to call twice. */
  drop(owner: object): void {
    this.#waiting.delete(owner);
  }

  #next(): void {
    for (const [owner, jobs] of [...this.#waiting]) {
      if (this.#running >= MAX_RUNNING) return;
      const [job, ...others] = jobs;
      if (job === undefined || this.#busy.has(owner) || !this.#fits(job)) continue;
      if (others.length > 0) this.#waiting.set(owner, others);
      else this.#waiting.delete(owner);
      this.#begin(owner, job);
    }
  }

  #toTheEnd(owner: object): void {
    const jobs = this.#waiting.get(owner);
    if (jobs === undefined) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, jobs);
  }

  /** Whether there is memory for a job. A job that is larger than the whole limit may run alone. */
  #fits({ memoryBytes }: Job): boolean {
    return this.#running === 0 || this.#memoryBytes + memoryBytes <= MAX_MEMORY_BYTES;
  }

  #begin(owner: object, job: Job): void {
    this.#running += 1;
    this.#memoryBytes += job.memoryBytes;
    this.#busy.add(owner);
    job.start(() => {
      this.#running -= 1;
      this.#memoryBytes -= job.memoryBytes;
      this.#busy.delete(owner);
      this.#toTheEnd(owner);
      this.#next();
    });
  }
}
