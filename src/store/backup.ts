import { closeSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

/**
 * Copies a SQLite store as of one moment, even while the service writes to it. The copy is a database of its own.
 * @param target a file that does not exist yet; a failed copy is removed
 * @throws when the source is no readable database, or the target exists
 */
export async function backupSqlite(path: string, target: string): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    // Creates the file first, with the owner as its only reader: a backup holds the same secrets as the database.
    closeSync(openSync(target, 'wx', 0o600));
    const sides = [`${target}-wal`, `${target}-shm`];
    try {
      holdMoment(source);
      await backup(source, target);
      assertWhole(target);
    } catch (cause) {
      for (const file of [target, ...sides]) rmSync(file, { force: true });
      throw cause;
    }
    // The check of the copy has left these files behind, empty.
    for (const file of sides) rmSync(file, { force: true });
  } finally {
    source.close();
  }
}

/**
 * Begins a read transaction, so that the copy shows one moment. Without it SQLite restarts the copy after each commit
 * of another process, and beside a busy service never ends.
 */
function holdMoment(source: DatabaseSync): void {
  source.exec('begin');
  // The transaction begins with the first read.
  source.prepare('select 1 from sqlite_schema limit 1').get();
}

function assertWhole(path: string): void {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const result = copy.prepare('pragma quick_check').get()?.['quick_check'];
    if (result !== 'ok') throw new Error(`The database is damaged, so its backup is of no use: ${String(result)}`);
  } finally {
    copy.close();
  }
}
