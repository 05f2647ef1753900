import { DatabaseSync } from 'node:sqlite';

/** `copy` may run while others write; `finish` ends what it began, while nobody does. */
export type CheckpointJob = 'copy' | 'finish';

/** What the main side says to the thread. */
export type CheckpointOrder = CheckpointJob | 'end';

/** Why a job could not be done. */
export interface CheckpointFailure {
  failure: string;
  /** Whether what it wrote may never reach the disk, although another try would be called a success. */
  isForGood: boolean;
}

/** What the thread says to each job: how many pages are in the log now, or why it could not be done. */
export type CheckpointAnswer = { pages: number } | CheckpointFailure;

/** SQLITE_IOERR_FSYNC, https://sqlite.org/rescode.html#ioerr_fsync */
const FLUSH_FAILED = 1034;

/** A log that has become larger, while a reader of another process held it back, is cut to this when it begins anew. */
const LOG_BYTES_KEPT = 16 * 1024 * 1024;

/**
 * Brings what lies in the write-ahead log into the database file, on a connection of its own. Never waits for readers:
 * what one of them still needs stays in the log, and is left for another time.
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
   * Who writes first after everything is copied begins the log at its start, and flushes its new header on the spot:
   * better here than on the main loop. This write changes nothing.
   */
  #beginAnew(): void {
    const version = Number(this.#database.prepare('pragma user_version').get()?.['user_version']);
    this.#database.exec(`pragma user_version = ${version}`);
  }
}

/** What there is to say about an error of {@link Checkpointer.run}. */
export function checkpointFailure(cause: unknown): CheckpointFailure {
  if (!(cause instanceof Error)) return { failure: String(cause), isForGood: false };
  return { failure: cause.message, isForGood: 'errcode' in cause && cause.errcode === FLUSH_FAILED };
}
