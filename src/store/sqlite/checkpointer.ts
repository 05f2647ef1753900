import { DatabaseSync } from 'node:sqlite';

/** `copy` may run during writes. `finish` completes the checkpoint and runs only while no write is under way. */
export type CheckpointJob = 'copy' | 'finish';

/** Messages from the main thread to this thread. */
export type CheckpointOrder = CheckpointJob | 'end';

/** Why a job could not be done. */
export interface CheckpointFailure {
  failure: string;
  /** Whether its writes may never reach the disk, even if another try reports success. */
  isForGood: boolean;
}

/** The thread's answer to each job: the number of pages now in the log, or why the job failed. */
export type CheckpointAnswer = { pages: number } | CheckpointFailure;

/** SQLITE_IOERR_FSYNC, https://sqlite.org/rescode.html#ioerr_fsync */
const FLUSH_FAILED = 1034;

/**
 * The size to which a larger log is cut when it begins anew. A reader of another process can make the log grow by
 * holding it back.
 */
const LOG_BYTES_KEPT = 16 * 1024 * 1024;

/**
 * Copies the write-ahead log into the database file, on a connection of its own. Never waits for readers: pages that a
 * reader still needs stay in the log until a later checkpoint.
 */
export class Checkpointer {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: 0 });
    this.#database.exec(`pragma synchronous = normal; pragma journal_size_limit = ${LOG_BYTES_KEPT}`);
  }

  /** Returns the pages that are in the log now. */
  run(job: CheckpointJob): number {
    const { log, checkpointed } = this.#checkpoint('passive');
    if (job === 'copy' || log === 0 || checkpointed < log) return log;
    this.#beginAnew();
    return this.#checkpoint('noop').log;
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #checkpoint(mode: 'passive' | 'noop'): { log: number; checkpointed: number } {
    const row = this.#database.prepare(`pragma wal_checkpoint(${mode})`).get();
    return { log: Number(row?.['log']), checkpointed: Number(row?.['checkpointed']) };
  }

  /**
   * Makes a write that changes nothing. The first write after everything is copied begins the log at its start and
   * flushes the new header at once. Here that flush does not block the main loop.
   */
  #beginAnew(): void {
    const version = Number(this.#database.prepare('pragma user_version').get()?.['user_version']);
    this.#database.exec(`pragma user_version = ${version}`);
  }
}

/** Describes an error of {@link Checkpointer.run}. */
export function checkpointFailure(cause: unknown): CheckpointFailure {
  if (!(cause instanceof Error)) return { failure: String(cause), isForGood: false };
  return { failure: cause.message, isForGood: 'errcode' in cause && cause.errcode === FLUSH_FAILED };
}
