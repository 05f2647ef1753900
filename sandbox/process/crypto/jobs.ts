import { performance } from 'node:perf_hooks';
import { cryptoAnswerText, cryptoFailureText, readSlowCryptoWork } from './crypto-answer.ts';
import type { SeededChance } from './seeded.ts';

/** How many jobs run at once. The process's other threads stay free for Node's own work. */
const MAX_RUNNING = 2;
/** Most memory of all running jobs together. */
const MAX_MEMORY_BYTES = 192 * 1_048_576;

/** A job that runs on another thread. */
interface Job {
  readonly memoryBytes: number;
  /** Starts the job. `done` is called once, when it is over. */
  start(done: () => void): void;
}

/**
 * The jobs of all calls of a process. Each call has at most one running job. The next job to begin belongs to the call
 * that has waited longest, so a call with many jobs does not stop other calls.
 */
export class CryptoJobQueue {
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

/**
 * The factor, and the milliseconds on top, by which a job may exceed its expected time and still be charged for it.
 * Finding primes is a matter of luck.
 */
const MAX_OVERRUN = 3;
const MIN_MS = 5;

/** Called when a job is over, with its number, its answer, and how long it ran, in milliseconds. */
export type OnJobDone = (id: number, answer: string, ms: number) => void;

/** The slow jobs of one call. They run on other threads. */
export class CallJobs {
  readonly #queue: CryptoJobQueue;
  readonly #onDone: OnJobDone;
  #open = true;
  /** When the running job began; undefined while none runs. */
  #runningSince: number | undefined;

  constructor(queue: CryptoJobQueue, onDone: OnJobDone) {
    this.#queue = queue;
    this.#onDone = onDone;
  }

  /** How long the running job has run, in milliseconds. */
  get runningMs(): number {
    return this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince;
  }

  /**
   * Queues a job. Its answer comes later, even when the question is refused.
   * @param mostMs processor time that the call may still take
   * @param chance of a durable call
   */
  start(id: number, question: string, mostMs: number, chance?: SeededChance): void {
    let work: ReturnType<typeof readSlowCryptoWork>;
    try {
      work = readSlowCryptoWork(question, mostMs, chance);
    } catch (error) {
      const answer = cryptoFailureText(error);
      // Answers after the stretch of guest code that asked.
      setImmediate(() => this.#done(id, answer, 0));
      return;
    }
    this.#queue.add(this, {
      memoryBytes: work.memoryBytes,
      start: (done) => {
        this.#runningSince = performance.now();
        const over = (answer: string) => {
          // This thread may see the job's end late. The time until then was not the job's.
          const ms = Math.min(this.runningMs, work.ms * MAX_OVERRUN + MIN_MS);
          this.#runningSince = undefined;
          done();
          this.#done(id, answer, ms);
        };
        try {
          work.start((error, result) =>
            over(
              error === null || error === undefined ? cryptoAnswerText(() => result ?? '') : cryptoFailureText(error),
            ),
          );
        } catch (error) {
          const answer = cryptoFailureText(error);
          setImmediate(() => over(answer));
        }
      },
    });
  }

  /** Drops the waiting jobs. No answer follows. Safe to call twice. */
  close(): void {
    this.#open = false;
    this.#queue.drop(this);
  }

  #done(id: number, answer: string, ms: number): void {
    if (this.#open) this.#onDone(id, answer, ms);
  }
}
