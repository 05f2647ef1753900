import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The right to use a data folder. It is held until it is released or the process ends, however the process ends. */
export interface DataDirLock {
  /** Safe to call twice. */
  release(): void;
}

/** SQLITE_BUSY, https://sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Locks a data folder for this process, and makes the folder if it does not exist. The lock is SQLite's own, on
 * `lock.db`, so the kernel releases it when the process is killed. No other code may open that file: closing any
 * descriptor of it would drop the lock (https://sqlite.org/howtocorrupt.html, section 2.2).
 * @throws at once when another process holds the lock, or the folder cannot be written
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const path = join(dataDir, 'lock.db');
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    makePrivate(path);
  } catch (cause) {
    throw notWritable(dataDir, cause);
  }
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (cause) {
    database.close();
    if (!isSqliteBusy(cause)) throw new Error(`The data folder ${resolve(dataDir)} cannot be locked`, { cause });
    throw new Error(
      `The data folder ${resolve(dataDir)} is in use by another Isolayer. Stop that one, or give this one a folder of its own with DATA_DIR.`,
      { cause },
    );
  }
  const release = (): void => {
    process.off('exit', release);
    if (database.isOpen) database.close();
  };
  // Keeps a reference to the connection: if it were collected as garbage, the lock would be lost.
  process.once('exit', release);
  return { release };
}

/** Gives the file to its owner alone: another user who can read it could hold a lock of SQLite on it. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
    // By its path, because this process may hold the lock.
    chmodSync(path, 0o600);
  }
}

function notWritable(dataDir: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const user = process.geteuid?.();
  const who = user === undefined ? '' : ` by user ${user}, who runs the service`;
  return new Error(
    `DATA_DIR (${resolve(dataDir)}) cannot be written${who}: ${reason}. Give the folder to that user, or name another one.`,
    { cause },
  );
}

/** Whether an error of SQLite means that another process holds a lock that is needed. */
export function isSqliteBusy(cause: unknown): boolean {
  // The low byte is the error code; the other bytes are its subtype.
  return cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === BUSY;
}
