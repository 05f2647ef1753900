import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../observability/log.ts';
import type { CheckpointAnswer, CheckpointJob, CheckpointOrder } from './checkpointer.ts';

/** By how many pages the log grows between two checkpoints: what SQLite does by itself. */
const PAGES_BETWEEN = 1000;

/** After so many the writing waits for the copying, where the disk is slower at one than at the other. */
const PAGES_AHEAD = 4 * PAGES_BETWEEN;

/** So many are there after a checkpoint only when somebody else reads: 64 MiB. */
const PAGES_HELD_BACK = 16 * PAGES_BETWEEN;

/** Starts the thread for a database; tests start another one. */
export type StartCheckpointThread = (path: string) => Worker;

/**
 * Keeps the write-ahead log small without holding up the main loop. The copying goes on beside the writing; its end,
 * which lets the log begin anew, comes between two transactions. What fails is tried again when the log has grown further:
 * it costs space and nothing that was written. Only a flush that fails is not: what had been copied may be lost, and the
 * next flush be called a success, after which the log would be given up that still has it.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #log: Log;
  readonly #start: StartCheckpointThread;
  #thread: CheckpointThread | undefined;
  /** Until its end was made, or it failed. */
  #copying: Promise<void> | undefined;
  #isCopied = false;
  /** What the log has at present, and what it had after the last checkpoint. */
  #pages = 0;
  #pagesThen = 0;
  #isHeldBack = false;
  #closed = false;
  #failure: unknown;

  constructor(path: string, log: Log, start: StartCheckpointThread = startCheckpointThread) {
    this.#path = path;
    this.#log = log;
    this.#start = start;
  }

  /** Why the database file is not to be trusted until a restart brings what the log has into it anew; else undefined. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * To be told after a commit; begins a checkpoint when it is time. Never fails.
   * @param pages how many are in the log
   */
  grown(pages: () => number): void {
    if (this.#closed || this.#failure !== undefined) return;
    try {
      this.#pages = pages();
    } catch (error) {
      this.#missed(error);
      return;
    }
    // Somebody has begun the log anew.
    if (this.#pages < this.#pagesThen) this.#pagesThen = 0;
    if (this.#copying === undefined && this.#growth() >= PAGES_BETWEEN) this.#copying = this.#copy();
  }

  /**
   * To be awaited before a transaction: ends a checkpoint that has come that far. Otherwise that transaction would begin
   * the log anew, and flush the new beginning on the main loop. Never fails.
   */
  async settled(): Promise<void> {
    if (this.#growth() >= PAGES_AHEAD) await this.#copying;
    if (!this.#isCopied || this.#closed) return;
    this.#copying = undefined;
    this.#isCopied = false;
    if (await this.#run('finish')) this.#lookAtLength();
  }

  async #copy(): Promise<void> {
    this.#isCopied = await this.#run('copy');
    if (!this.#isCopied) this.#copying = undefined;
  }

  /** Lets a job that runs come to its end, and ends the thread. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.end();
  }

  /** True when it was done. */
  async #run(job: CheckpointJob): Promise<boolean> {
    try {
      if (this.#thread === undefined || this.#thread.isLost) {
        this.#thread = new CheckpointThread(this.#start(this.#path));
      }
      this.#pagesThen = await this.#thread.run(job);
      return true;
    } catch (error) {
      this.#missed(error);
      return false;
    }
  }

  /** Says once that the log has grown long, and again when it was short meanwhile. */
  #lookAtLength(): void {
    const isHeldBack = this.#pagesThen >= PAGES_HELD_BACK;
    if (isHeldBack && !this.#isHeldBack) {
      const said =
        'another process reads the database and holds its log back, which grows on the disk until that one ends';
      this.#log.warn({ pages: this.#pagesThen }, said);
    }
    this.#isHeldBack = isHeldBack;
  }

  #growth(): number {
    return this.#pages - this.#pagesThen;
  }

  #missed(error: unknown): void {
    this.#pagesThen = this.#pages;
    if (error instanceof FlushFailed) {
      this.#failure = error;
      this.#log.error({ err: error }, 'the disk failed while the database was written; restart when it is well');
      return;
    }
    if (this.#closed) return;
    this.#log.warn({ err: error }, 'a checkpoint of the database failed; its log grows until one succeeds');
  }
}

/** After it nobody knows what the database file has. */
class FlushFailed extends Error {}

/** The thread as this side holds it: one job at a time. It keeps a process alive only while it works. */
class CheckpointThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #job: PromiseWithResolvers<number> | undefined;
  #isEnding = false;
  #isLost = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    worker.on('message', (answer: CheckpointAnswer) => {
      if ('pages' in answer) this.#job?.resolve(answer.pages);
      else this.#job?.reject(answer.isForGood ? new FlushFailed(answer.failure) : new Error(answer.failure));
    });
    worker.on('error', (cause) => this.#lose(cause));
    worker.on('exit', () => {
      this.#lose(new Error('The thread that makes checkpoints ended'));
      resolve();
    });
    worker.unref();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async run(job: CheckpointJob): Promise<number> {
    this.#job = Promise.withResolvers<number>();
    this.#worker.ref();
    this.#say(job);
    try {
      return await this.#job.promise;
    } finally {
      this.#job = undefined;
      if (!this.#isEnding) this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#worker.ref();
      this.#say('end');
    }
    await this.#ended;
  }

  #lose(cause: unknown): void {
    this.#isLost = true;
    this.#job?.reject(cause);
  }

  #say(order: CheckpointOrder): void {
    this.#worker.postMessage(order);
  }
}

/** Starts the thread that does the work. */
export function startCheckpointThread(path: string): Worker {
  return new Worker(join(import.meta.dirname, 'checkpoint-thread.ts'), {
    workerData: path,
    // Options that the process was started with need not suit a thread.
    execArgv: [],
  });
}
