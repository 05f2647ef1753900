import type { BundlerConfinement } from '../../bundler-confinement.ts';
import type { FilesRead } from '../files-read.ts';
import type { BundlerHold } from './launch.ts';
import { type BuildResult, BundlerLost, BundlerWorker } from './worker.ts';
import type { BuildJob } from './worker-messages.ts';

/** The time limits of the bundler. */
export interface BundlerLimits {
  /** A build in a worker of its own that takes longer ends, with its worker. */
  timeoutMs: number;
  /** The worker ends after this long without a build. */
  idleMs: number;
}

/** A build that the shared worker did not finish. It waits for a worker of its own. */
interface Waiting {
  tookMs: number;
  begin: () => void;
}

/** The part of the time limit that a build has in the shared worker. */
const SHARE_AMONG_OTHERS = 1 / 2;

/**
 * Does many builds at once in one shared worker process, which starts with the first. A build that the shared worker
 * does not finish, for whatever reason, is done once more in a worker of its own. Only one such build runs at a time.
 * So a build that breaks, fills or blocks the shared worker costs others a moment. Later builds get a new worker.
 */
export class Bundler {
  readonly #limits: BundlerLimits;
  readonly #holds: BundlerHold[];
  readonly #workers = new Set<BundlerWorker>();
  readonly #waiting: Waiting[] = [];
  #shared: BundlerWorker | undefined;
  #isOneByItself = false;
  #proven: BundlerHold | undefined;
  #closing = new AbortController();

  /** @param holds the ways to confine a worker, the best first; one that does not start is not tried again */
  constructor(limits: BundlerLimits, holds: readonly [BundlerHold, ...BundlerHold[]]) {
    this.#limits = limits;
    this.#holds = [...holds];
  }

  /**
   * Does a build.
   * @param read receives the files that the build is made of, with their states, also when it does not finish
   * @param outdated aborted when the build's files have changed: then it is not done in a worker of its own any more
   * @throws BundlerLost when this build ends its worker, takes too much memory or too long, when the bundler is closed,
   *   or when the build is outdated and the shared worker did not finish it
   */
  async build(job: BuildJob, read: FilesRead = new Map(), outdated?: AbortSignal): Promise<BuildResult> {
    const closed = this.#closing.signal;
    const began = performance.now();
    try {
      return await this.#amongOthers(job, read, closed);
    } catch (error) {
      if (!(error instanceof BundlerLost) || error.reason === 'closed') throw error;
    }
    const over = outdated === undefined ? closed : AbortSignal.any([closed, outdated]);
    return await this.#byItself(job, read, performance.now() - began, over);
  }

  /** How far the worker is confined; undefined until a worker has started. */
  get confinement(): BundlerConfinement | undefined {
    return this.#proven?.confinement;
  }

  /** Ends the workers and the builds under way. A later build starts a new worker. */
  async close(): Promise<void> {
    this.#closing.abort(new BundlerLost('closed'));
    this.#closing = new AbortController();
    for (const worker of this.#workers) worker.end('closed');
    await Promise.all(Array.from(this.#workers, ({ gone }) => gone));
  }

  async #amongOthers(job: BuildJob, read: FilesRead, closed: AbortSignal): Promise<BuildResult> {
    for (;;) {
      closed.throwIfAborted();
      if (this.#shared?.takesBuilds !== true) {
        this.#shared?.retire();
        this.#shared = this.#start();
      }
      const worker = this.#shared;
      try {
        return await this.#perform(worker, job, read, this.#limits.timeoutMs * SHARE_AMONG_OTHERS);
      } catch (error) {
        // The worker's confinement may not work on this system.
        if (!(error instanceof BundlerLost) || error.reason !== 'unstarted' || !this.#drop(worker.hold)) throw error;
      }
    }
  }

  async #byItself(job: BuildJob, read: FilesRead, tookMs: number, over: AbortSignal): Promise<BuildResult> {
    await this.#turn(tookMs, over);
    let worker: BundlerWorker | undefined;
    const end = () => worker?.end(lossOf(over).reason);
    try {
      if (over.aborted) throw lossOf(over);
      worker = this.#start();
      over.addEventListener('abort', end);
      return await this.#perform(worker, job, read, this.#limits.timeoutMs);
    } finally {
      over.removeEventListener('abort', end);
      worker?.end('closed');
      await worker?.gone;
      this.#next();
    }
  }

  async #perform(worker: BundlerWorker, job: BuildJob, read: FilesRead, timeoutMs: number): Promise<BuildResult> {
    try {
      return await worker.perform(job, read, timeoutMs);
    } finally {
      if (worker.isReady) this.#proven = worker.hold;
    }
  }

  #start(): BundlerWorker {
    const [hold] = this.#holds;
    if (hold === undefined) throw new Error('no hold is left');
    const worker = new BundlerWorker(hold, this.#limits.idleMs);
    this.#workers.add(worker);
    void worker.gone.then(() => this.#workers.delete(worker));
    return worker;
  }

  /** Gives up a way to confine workers. Returns false when it is the last one. */
  #drop(hold: BundlerHold): boolean {
    if (this.#holds.length > 1 && this.#holds[0] === hold) this.#holds.shift();
    return this.#holds[0] !== hold;
  }

  /** Resolves when this build may start in a worker of its own. */
  #turn(tookMs: number, over: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (over.aborted) return reject(lossOf(over));
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(lossOf(over));
      };
      const begin = () => {
        over.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiting = { tookMs, begin };
      over.addEventListener('abort', giveUp);
      this.#waiting.push(waiting);
      if (!this.#isOneByItself) this.#next();
    });
  }

  /** Begins the waiting build that took the shortest time so far: it is likely to be quick. */
  #next(): void {
    const next = this.#waiting.sort((a, b) => a.tookMs - b.tookMs).shift();
    this.#isOneByItself = next !== undefined;
    next?.begin();
  }
}

function lossOf({ reason }: AbortSignal): BundlerLost {
  return reason instanceof BundlerLost ? reason : new BundlerLost('outdated');
}
