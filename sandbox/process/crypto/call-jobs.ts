import { performance } from 'node:perf_hooks';
import { answered, answeredFailure, slowWorkOf } from './crypto-answer.ts';
import type { JobQueue } from './job-queue.ts';

/** By how much a job may take longer than it should, and still be charged for it: finding primes is a matter of luck. */
const MOST_OVERRUN = 3;
const LEAST_MS = 5;

/** Told when a job is over: its number, its answer, and how long it ran, in milliseconds. */
export type OnJobDone = (id: number, answer: string, ms: number) => void;

/** The slow work that one call has done beside itself. */
export class CallJobs {
  readonly #queue: JobQueue;
  readonly #onDone: OnJobDone;
  #open = true;
  /** When the running one began; undefined while none runs. */
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
   * Queues a job; its answer comes later, also where the question is refused.
   * @param mostMs what the call may still take of the processor
   */
  start(id: number, question: string, mostMs: number): void {
    let work: ReturnType<typeof slowWorkOf>;
    try {
      work = slowWorkOf(question, mostMs);
    } catch (error) {
      const answer = answeredFailure(error);
      // Not within the stretch that asked.
      setImmediate(() => this.#told(id, answer, 0));
      return;
    }
    this.#queue.add(this, {
      memoryBytes: work.memoryBytes,
      start: (done) => {
        this.#runningSince = performance.now();
        const over = (answer: string) => {
          // The end is seen when this thread has time for it, and what it did meanwhile was not the job's.
          const ms = Math.min(this.runningMs, work.ms * MOST_OVERRUN + LEAST_MS);
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

  /** Nothing is told any more. Safe to call twice. */
  close(): void {
    this.#open = false;
    this.#queue.drop(this);
  }

  #told(id: number, answer: string, ms: number): void {
    if (this.#open) this.#onDone(id, answer, ms);
  }
}
