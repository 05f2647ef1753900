/** Jobs that run at once; the others of the process's threads stay free for what Node does itself. */
const MOST_RUNNING = 2;
/** Memory of all running jobs together. */
const MOST_MEMORY_BYTES = 192 * 1_048_576;

/** Something that runs on another thread. */
export interface Job {
  readonly memoryBytes: number;
  /** Starts it; `done` is called once, when it is over. */
  start(done: () => void): void;
}

/**
 * The jobs of all calls of a process. They wait in turns: each call has one running at most, and the next to begin is
 * of the call that has waited longest, so that one that asks for many stops no other.
 */
export class JobQueue {
  /** By their owners, who come to the end of the line when one of theirs is over. */
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

  /** Forgets what an owner waits for; what runs runs on. Safe to call twice. */
  drop(owner: object): void {
    this.#waiting.delete(owner);
  }

  #next(): void {
    for (const [owner, jobs] of [...this.#waiting]) {
      if (this.#running >= MOST_RUNNING) return;
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

  /** One that is larger than all the room may run alone. */
  #fits({ memoryBytes }: Job): boolean {
    return this.#running === 0 || this.#memoryBytes + memoryBytes <= MOST_MEMORY_BYTES;
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
