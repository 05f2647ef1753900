import { closeSync, fdatasync, openSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { StoreUnavailable } from '../../domain/errors.ts';
import type { Log } from '../../observability/log.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { GroupTransactions } from './writer-queue.ts';

interface DurableCommitsParts {
  /** The one connection that writes, in WAL mode. Nothing else commits on it. */
  writing: DatabaseSync;
  /** The one connection on which all reads run. */
  reading: DatabaseSync;
  wal: WalFile;
  checkpoints: Checkpoints;
  log: Log;
}

/**
 * Commits without blocking the main loop for the disk. SQLite writes the commit into its log without a flush; the flush
 * runs on another thread. Until the flush is done, readers keep their old snapshot. So no code acts on data that a
 * power cut could still take back.
 *
 * A failed flush is final: the kernel may have dropped what it could not write and report the next flush as a success
 * (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020). After it nothing is written any
 * more, and readers keep their snapshot. The next start writes the log's content into the database file anew. The same
 * holds for a checkpoint whose flush fails.
 */
export class DurableCommits implements GroupTransactions {
  readonly #writing: DatabaseSync;
  readonly #reading: DatabaseSync;
  readonly #wal: WalFile;
  readonly #checkpoints: Checkpoints;
  readonly #log: Log;
  readonly #changes: StatementSync;
  readonly #pages: StatementSync;
  readonly #look: StatementSync;
  #changesBefore: unknown;
  #version = 0;
  /** Pages in the log after the last commit; undefined when nothing waits for its flush. */
  #unflushed: (() => number) | undefined;
  /** The latest flush. Never fails. */
  #flushing: Promise<void> | undefined;
  #failure: unknown;

  constructor({ writing, reading, wal, checkpoints, log }: DurableCommitsParts) {
    writing.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
    this.#writing = writing;
    this.#reading = reading;
    this.#wal = wal;
    this.#checkpoints = checkpoints;
    this.#log = log;
    this.#changes = writing.prepare('select total_changes() as n');
    this.#pages = writing.prepare('pragma wal_checkpoint(noop)');
    this.#look = reading.prepare('select 1 from sqlite_schema limit 1');
  }

  /** False once a flush has failed. From then on the log must not be changed. */
  get isIntact(): boolean {
    return this.#cause() === undefined;
  }

  /** @throws AppError `UNAVAILABLE` once a flush has failed */
  assertIntact(): void {
    if (this.isIntact) return;
    const reason = 'The disk failed while the database was written; nothing is written until the service is restarted';
    throw new StoreUnavailable(reason, this.#cause());
  }

  /** Rises when readers see a further commit. */
  get version(): number {
    return this.#version;
  }

  async ready(): Promise<void> {
    // During a flush the readers' snapshot would keep the log from beginning anew.
    if (this.#checkpoints.isDue) await this.#flushing;
    if (this.isIntact) await this.#checkpoints.settled();
  }

  begin(): void {
    this.assertIntact();
    this.#writing.exec('begin immediate');
    this.#changesBefore = this.#totalChanges();
  }

  commit(): void {
    // The transaction may have read what a failed flush did not keep.
    this.assertIntact();
    // Nothing was changed, and everything written before is on disk.
    if (this.#totalChanges() === this.#changesBefore) {
      this.#writing.exec('commit');
      return;
    }
    this.#reading.exec('begin');
    try {
      // SQLite takes the snapshot with the first read, not with `begin`.
      this.#look.get();
      this.#writing.exec('commit');
    } catch (cause) {
      this.#letGo();
      throw cause;
    }
    this.#unflushed = this.#pagesNow();
  }

  async flush(): Promise<void> {
    const pages = this.#unflushed;
    if (pages === undefined) return;
    this.#unflushed = undefined;
    const flushed = this.#flush();
    this.#flushing = flushed.catch(() => undefined);
    await flushed;
    this.#checkpoints.grown(pages);
  }

  undo(): void {
    try {
      if (this.#writing.isOpen && this.#writing.isTransaction) this.#writing.exec('rollback');
    } catch {
      // The transaction stays open, so every later group fails and tries the rollback again. Nothing is kept by
      // accident.
    }
  }

  /** Call it when no write is under way. Safe to call twice. */
  async close(): Promise<void> {
    await this.#checkpoints.close();
    this.#wal.close();
  }

  async #flush(): Promise<void> {
    try {
      await this.#wal.flush();
    } catch (cause) {
      this.#failure = cause;
      this.#log.error({ err: cause }, 'the disk failed while the database was written; restart when it is well');
      const reason = 'The disk failed while this was written: whether it is kept shows after a restart of the service';
      throw new StoreUnavailable(reason, cause);
    }
    this.#letGo();
  }

  /** Counts the pages of the log. SQLite refuses to while a transaction writes. */
  #pagesNow(): () => number {
    try {
      const pages = Number(this.#pages.get()?.['log']);
      return () => pages;
    } catch (cause) {
      return () => {
        throw cause;
      };
    }
  }

  #cause(): unknown {
    return this.#failure ?? this.#checkpoints.failure;
  }

  /** Ends the readers' snapshot, so that they see the committed state. */
  #letGo(): void {
    this.#reading.exec('commit');
    this.#version += 1;
  }

  #totalChanges(): unknown {
    return this.#changes.get()?.['n'];
  }
}

const flushData = promisify(fdatasync);

/** The write-ahead log of an open SQLite file, for flushing it to disk. */
export interface WalFile {
  /** Resolves once everything written to the log before is on disk. Does not block the main loop. */
  flush(): Promise<void>;
  /** Safe to call twice. */
  close(): void;
}

/**
 * Opens the log through a descriptor of its own: SQLite locks its other files and never this one, so that closing the
 * descriptor drops no lock (https://sqlite.org/howtocorrupt.html, section 2.2).
 *
 * The flush is libuv's and needs no thread of ours, which would be 13 MB for one system call. Name lookups that hang do
 * not hold it up: they get at most half of libuv's threads (`slow_work_thread_threshold` in its `threadpool.c`).
 * @param path of the database
 * @throws when the database has no log, so it is not open or not in WAL mode
 */
export function openWalFile(path: string): WalFile {
  const file = openSync(`${path}-wal`, 'r+');
  let isOpen = true;
  return {
    async flush() {
      // The descriptor's number may belong to another file by now.
      if (!isOpen) throw new Error('The log of the database is closed');
      await flushData(file);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      closeSync(file);
    },
  };
}
