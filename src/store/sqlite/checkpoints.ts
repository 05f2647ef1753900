import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../observability/log.ts';
import type { CheckpointAnswer, CheckpointJob, CheckpointOrder } from './checkpointer.ts';

/** How many pages the log grows between two checkpoints: SQLite's own default. */
const PAGES_BETWEEN = 1000;

/** Beyond so many pages, writing waits for copying: the disk may be slower at copying. */
const PAGES_AHEAD = 4 * PAGES_BETWEEN;

/** So many pages remain after a checkpoint only when another process reads: 64 MiB. */
const PAGES_HELD_BACK = 16 * PAGES_BETWEEN;

/** Starts the thread for a database. Tests start another one. */
export type StartCheckpointThread = (path: string) => Worker;

/**
 * Keeps the write-ahead log small without blocking the main loop. Copying runs in parallel with writing. The end of a
 * checkpoint, which lets the log begin anew, runs between two transactions. A failed job is tried again when the log
 * has grown further: the failure costs space, but no data. Only a failed flush is not tried again: the copied pages may
 * be lost, and the next flush may report success. Then SQLite would give up the log, which still has those pages.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #log: Log;
  readonly #start: StartCheckpointThread;
  #thread: CheckpointThread | undefined;
  /** Set while a checkpoint is under way: until it is finished or has failed. */
  #copying: Promise<void> | undefined;
  #isCopied = false;
  /** Pages in the log now, and after the last checkpoint. */
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

  /** Whether {@link settled} has something to wait for. Otherwise it changes nothing. */
  get isDue(): boolean {
    return this.#isCopied || this.#growth() >= PAGES_AHEAD;
  }

  /** Why the database file cannot be trusted, else undefined. A restart repairs it by copying the log into it anew. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Call it after a commit. Begins a checkpoint when the log has grown enough. Never fails.
   * @param pages returns the number of pages in the log
   */
  grown(pages: () => number): void {
    if (this.#closed || this.#failure !== undefined) return;
    try {
      this.#pages = pages();
    } catch (error) {
      this.#missed(error);
      return;
    }
    // The log was begun anew.
    if (this.#pages < this.#pagesThen) this.#pagesThen = 0;
    if (this.#copying === undefined && this.#growth() >= PAGES_BETWEEN) this.#copying = this.#copy();
  }

  /**
   * Await it before a transaction. Finishes a checkpoint whose copying is done. Otherwise the transaction would begin
   * the log anew, and flush its new header on the main loop. Never fails.
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

  /** Waits for a running job and ends the thread. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.end();
  }

  /** Runs a job. Returns true when it succeeded. */
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

  /** Warns once when the log has grown long, and again only after it was short in between. */
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

/** A flush failed: the content of the database file is unknown. */
class FlushFailed extends Error {}

/**
 * The main side's handle of the thread. It runs one job at a time. The thread keeps the process alive only during a
 * job.
 */
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
    // The process's own options may not suit a thread.
    execArgv: [],
  });
}
