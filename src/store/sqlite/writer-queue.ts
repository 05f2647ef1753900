import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import { AppError, StoreUnavailable } from '../../domain/errors.ts';
import type { BodyGuard } from '../write-body-guard.ts';

/** How long bodies may join one commit, in milliseconds. Then the event loop has its turn. */
const GROUP_MS = 5;

/** How many bodies are told of their commit at a time. Each goes on at once, most with an answer to a request. */
const REPORTS_PER_TURN = 8;

/** The transactions in which groups of bodies run. */
export interface GroupTransactions {
  /** Awaited before each transaction. Never fails. */
  ready(): Promise<void>;
  /** @throws when nothing can be written */
  begin(): void;
  /**
   * Commits, once the flush of the group before has ended. Readers do not see it before {@link flush}.
   * @throws when nothing can be written, also after a flush that failed
   */
  commit(): void;
  /** Resolves once everything committed is on disk, and readers see it. The next transaction may begin meanwhile. */
  flush(): Promise<void>;
  /** Rolls back the open transaction, if there is one. Never fails. */
  undo(): void;
}

interface Job {
  /** Runs the body and returns how to report its end. The report is true only after the commit. */
  run(): Promise<{ kept: boolean; report: () => void }>;
  fail(cause: unknown): void;
}

/** The bodies of one commit. */
interface Group {
  /** How many of the waiting bodies have run in it. */
  taken: number;
  reports: (() => void)[];
}

/**
 * Runs write bodies one after another on SQLite's one writing connection, many per commit, because a commit costs a
 * flush to disk. While it is flushed, the bodies of the next commit run. They may read what is not on disk yet, so their
 * commit and every report of theirs come after that flush, and fail with it. A body that throws is undone alone. A body
 * may await only its writer. A body that awaits something else for a turn of the event loop is undone too. Between two
 * statements a long body gives the event loop a turn.
 */
export class WriterQueue {
  readonly #database: DatabaseSync;
  readonly #transactions: GroupTransactions;
  readonly #guard: BodyGuard;
  readonly #clock: Clock;
  readonly #jobs: Job[] = [];
  #working = false;
  /** The flush under way and the reports after it. Neither ever fails. */
  #flushing: Promise<void> | undefined;
  #reporting: Promise<void> | undefined;
  /** Of the running body. */
  #turns: BodyTurns | undefined;
  /** When the turn of the event loop began in which bodies run now. */
  #turnBegan = 0;
  #whenIdle: (() => void)[] = [];

  /** @param transactions transactions of the database; nothing else may use them while the queue runs */
  constructor(database: DatabaseSync, transactions: GroupTransactions, guard: BodyGuard, clock: Clock) {
    this.#database = database;
    this.#transactions = transactions;
    this.#guard = guard;
    this.#clock = clock;
  }

  /** Resolves or rejects as the body did, once its writes are on disk. */
  run<T>(body: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({
        fail: reject,
        run: async () => {
          try {
            const result = await this.#runBody(body);
            return { kept: true, report: () => resolve(result) };
          } catch (cause) {
            return { kept: false, report: () => reject(cause) };
          }
        },
      });
      this.#start();
    });
  }

  /** The writer awaits this before each statement of the running body. */
  pause(): Promise<void> | undefined {
    return this.#turns?.pause();
  }

  /** Resolves when all bodies in the queue have ended. */
  async drained(): Promise<void> {
    while (!this.#isIdle()) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #isIdle(): boolean {
    return !this.#working && this.#reporting === undefined;
  }

  #tellIdle(): void {
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Starts in the next turn of the loop: bodies that arrive in this turn share the commit. */
  #start(): void {
    if (this.#working) return;
    this.#working = true;
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    await this.#transactions.ready();
    await this.#commitGroup();
    if (this.#jobs.length > 0) {
      setImmediate(() => void this.#work());
      return;
    }
    this.#working = false;
    this.#tellIdle();
  }

  async #commitGroup(): Promise<void> {
    const group: Group = { taken: 0, reports: [] };
    try {
      this.#transactions.begin();
      await this.#runBodies(group);
      if (this.#flushing !== undefined) {
        await this.#flushing;
        // Those that have come meanwhile.
        await this.#runBodies(group);
      }
      this.#transactions.commit();
    } catch (cause) {
      // The commit failed, or SQLite rolled the whole transaction back (disk full, I/O error). Nothing of it is stored,
      // unless the cause says otherwise.
      this.#transactions.undo();
      // If even `begin` failed, the waiting bodies would fail too.
      for (const job of this.#jobs.splice(0, group.taken === 0 ? this.#jobs.length : group.taken))
        job.fail(unwritable(cause));
      return;
    }
    const jobs = this.#jobs.splice(0, group.taken);
    const flushed = this.#transactions.flush().then(() => undefined, unwritable);
    const reporting = this.#report(flushed, this.#reporting, jobs, group.reports);
    this.#reporting = reporting;
    void reporting.then(() => {
      if (this.#reporting !== reporting) return;
      this.#reporting = undefined;
      this.#tellIdle();
    });
    this.#flushing = flushed.then(() => {
      this.#flushing = undefined;
    });
  }

  /** Runs the waiting bodies in the open transaction, for some time. */
  async #runBodies(group: Group): Promise<void> {
    this.#turnBegan = this.#clock.elapsed();
    const deadline = this.#turnBegan + GROUP_MS;
    do {
      const job = this.#jobs[group.taken];
      if (job === undefined) return;
      group.taken += 1;
      this.#database.exec('savepoint body');
      const { kept, report } = await job.run();
      this.#database.exec(kept ? 'release body' : 'rollback to body; release body');
      group.reports.push(report);
    } while (this.#clock.elapsed() < deadline);
  }

  /** Reports to the bodies of a group after its flush, and after the reports to the groups before it. */
  async #report(
    flushed: Promise<AppError | undefined>,
    earlier: Promise<void> | undefined,
    jobs: readonly Job[],
    reports: readonly (() => void)[],
  ): Promise<void> {
    const failure = await flushed;
    await earlier;
    if (failure !== undefined) {
      for (const job of jobs) job.fail(failure);
      return;
    }
    for (const [at, report] of reports.entries()) {
      if (at > 0 && at % REPORTS_PER_TURN === 0) await nextTurn();
      report();
    }
  }

  async #runBody<T>(body: () => Promise<T>): Promise<T> {
    const { ended, abandon } = this.#guard.enter(body);
    const turns = new BodyTurns(this.#clock, this.#turnBegan, abandon);
    this.#turns = turns;
    try {
      return await Promise.race([ended, turns.overdue]);
    } finally {
      turns.end();
      this.#turnBegan = turns.began;
      this.#turns = undefined;
    }
  }
}

function unwritable(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new StoreUnavailable('The database cannot be written', cause);
}

/** How long the statements of bodies may hold the event loop, in milliseconds. */
const HELD_MS = 5;

/**
 * The turns of the event loop that one write body takes. A long body pauses between its statements, so that requests do
 * not wait for all of it. A turn that ends while the body waits for something else makes the body overdue.
 */
export class BodyTurns {
  /** Rejects when the body is overdue. */
  readonly overdue: Promise<never>;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #fail: () => void;
  #watch: NodeJS.Immediate;
  #began: number;
  #pause: Promise<void> | undefined;
  #ended = false;

  /**
   * @param began when the turn began in which the body starts; bodies before it may have taken a part of it
   * @param onOverdue called before `overdue` rejects
   */
  constructor(clock: Pick<Clock, 'elapsed'>, began: number, onOverdue: () => void) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.overdue = promise;
    this.#clock = clock;
    this.#fail = () => {
      onOverdue();
      reject(new Error('A write body awaited something other than its writer; it was undone'));
    };
    this.#watch = setImmediate(this.#fail);
    this.#began = began;
  }

  /** Await this before each statement. Undefined: there is still time in this turn. */
  pause(): Promise<void> | undefined {
    if (this.#pause === undefined && this.#clock.elapsed() - this.#began >= HELD_MS) this.#pause = this.#nextTurn();
    return this.#pause;
  }

  /** When the turn began in which the body's latest statement ran. */
  get began(): number {
    return this.#began;
  }

  /** The body has ended. */
  end(): void {
    this.#ended = true;
    clearImmediate(this.#watch);
  }

  async #nextTurn(): Promise<void> {
    clearImmediate(this.#watch);
    await new Promise((resolve) => setImmediate(resolve));
    this.#pause = undefined;
    this.#began = this.#clock.elapsed();
    if (!this.#ended) this.#watch = setImmediate(this.#fail);
  }
}
