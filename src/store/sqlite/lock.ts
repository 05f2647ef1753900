import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The right to use a data folder, held until it is released or the process ends, however it ends. */
export interface DataDirLock {
  /** Safe to call twice. */
  release(): void;
}

/** SQLITE_BUSY, https://sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Takes a data folder for this process, and makes it when it is not there. The lock is one of SQLite's own on
 * `lock.db`, so the kernel takes it back from a process that was killed. Nothing else may open that file: closing any
 * descriptor of it would drop the lock (https://sqlite.org/howtocorrupt.html, section 2.2).
 * @throws at once when another process has it
 */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(dataDir, 'lock.db'), { timeout: 0 });
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (cause) {
    database.close();
    if (!isBusy(cause)) throw new Error(`The data folder ${resolve(dataDir)} cannot be locked`, { cause });
    throw new Error(
      `The data folder ${resolve(dataDir)} is in use by another Isolayer. Stop that one, or give this one a folder of its own with DATA_DIR.`,
      { cause },
    );
  }
  const release = (): void => {
    process.off('exit', release);
    if (database.isOpen) database.close();
  };
  // Somebody has to hold on to the connection: collected as garbage, it would take the lock with it.
  process.once('exit', release);
  return { release };
}

/** Whether an error of SQLite says that another process has what it takes. */
export function isBusy(cause: unknown): boolean {
  // The low byte is the code, the others say which kind of it.
  return cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === BUSY;
}
