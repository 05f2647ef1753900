import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

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
