import { performance } from 'node:perf_hooks';
import { answered, answeredFailure, slowWorkOf } from './crypto-answer.ts';
import type { JobQueue } from './job-queue.ts';

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
  readonly #queue: JobQueue;
  readonly #onDone: OnJobDone;
  #open = true;
  /** When the running job began; undefined while none runs. */
  #runningSince: number | undefined;

  constructor(queue: JobQueue, onDone: OnJobDone) {
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
   */
  start(id: number, question: string, mostMs: number): void {
    let work: ReturnType<typeof slowWorkOf>;
    try {
      work = slowWorkOf(question, mostMs);
    } catch (error) {
      const answer = answeredFailure(error);
      // Answers after the stretch of guest code that asked.
      setImmediate(() => this.#told(id, answer, 0));
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
          this.#told(id, answer, ms);
        };
        try {
          work.start((error, result) =>
            over(error === null || error === undefined ? answered(() => result ?? '') : answeredFailure(error)),
          );
        } catch (error) {
          const answer = answeredFailure(error);
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

  #told(id: number, answer: string, ms: number): void {
    if (this.#open) this.#onDone(id, answer, ms);
  }
}
