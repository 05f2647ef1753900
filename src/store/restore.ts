import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { assertKnownSteps } from './migrations/migrate.ts';
import { migrations } from './migrations/migrations.ts';
import { sqliteTrigger } from './migrations/transaction-counts.ts';
import { isSqliteBusy } from './sqlite/lock.ts';

export interface RestoreOptions<T> {
  /** The backup, which is only read. */
  source: string;
  /** The database of a data folder whose lock (`lock.ts`) is held. */
  target: string;
  /** Where to keep the present database. If absent, there must be no present database. */
  keepAs?: string;
  /** Makes the copy ready for use, in a file of its own. If it throws, the backup is not put in place. */
  settle(draft: string): Promise<T>;
}

/**
 * Puts a backup in the place of a database, whole or not at all. A database is there at every moment.
 * @returns the result of `settle`
 * @throws what `settle` throws; or an error when the source is not a whole backup of a version that this one knows,
 * when the target exists and is not to be kept, or when another process has it open
 */
export async function restoreSqlite<T>({ source, target, keepAs, settle }: RestoreOptions<T>): Promise<T> {
  if (keepAs === undefined && existsSync(target)) throw new Error(`${target} exists`);
  if (!existsSync(target) && existsSync(`${target}-wal`)) {
    // SQLite would mistake it for the log of the restored database.
    throw new Error(`${target}-wal is the log of a database that is not there; move it elsewhere first`);
  }
  const draft = `${target}.restoring`;
  const sweep = () => {
    for (const file of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(file, { force: true });
  };
  sweep();
  try {
    await copyWhole(source, draft);
    const settled = await settle(draft);
    leaveNoLog(draft);
    flush(draft);
    if (keepAs !== undefined && existsSync(target)) setAside(target, keepAs);
    renameSync(draft, target);
    flush(dirname(target));
    return settled;
  } finally {
    sweep();
  }
}

async function copyWhole(source: string, draft: string): Promise<void> {
  closeSync(openSync(draft, 'wx', 0o600));
  const original = new DatabaseSync(source, { readOnly: true });
  try {
    await backup(original, draft);
  } catch (cause) {
    throw new Error(`${source} is no database that can be read`, { cause });
  } finally {
    original.close();
  }
  const copy = new DatabaseSync(draft, { readOnly: true });
  try {
    const check = copy.prepare('pragma integrity_check').get()?.['integrity_check'];
    if (check !== 'ok') throw new Error(`${source} is damaged: ${String(check)}`);
    assertKnownSteps(stepsOf(copy, source), migrations);
    // Somebody else's would run within the service's own writes and reads.
    const found = copy.prepare(`select name, sql from sqlite_schema where type in ('trigger', 'view')`).all();
    const foreign = found.find(({ name, sql }) => sql !== sqliteTrigger(String(name)));
    if (foreign !== undefined)
      throw new Error(`${source} has a trigger or view that is not ours: ${String(foreign['name'])}`);
  } finally {
    copy.close();
  }
}

function stepsOf(database: DatabaseSync, source: string): { version: number; name: string }[] {
  const isOurs = database.prepare(`select 1 from sqlite_schema where name = 'migrations'`).get() !== undefined;
  const rows = isOurs ? database.prepare('select version, name from migrations order by version').all() : [];
  if (rows.length === 0) throw new Error(`${source} is no backup of Isolayer`);
  return rows.map(({ version, name }) => ({ version: Number(version), name: String(name) }));
}

/**
 * Sets the copy's journal mode to `delete`. A backup has its source's mode, so the copy would otherwise leave side
 * files behind.
 */
function leaveNoLog(draft: string): void {
  const database = new DatabaseSync(draft);
  try {
    database.exec('pragma journal_mode = delete');
  } finally {
    database.close();
  }
}

/**
 * Moves the present database to `keepAs`. Writes its log back first: beside another database, the log would be mistaken
 * for that database's.
 * @throws when another process has it open: that process would go on with the log and mix both databases
 */
function setAside(target: string, keepAs: string): void {
  const old = new DatabaseSync(target);
  try {
    // Puts everything into one file. SQLite allows this only to the sole user of the database.
    old.exec('pragma journal_mode = delete');
  } catch (cause) {
    if (isSqliteBusy(cause)) throw new Error(`Another process has ${target} open; it must be closed first`, { cause });
    // The database is damaged, which may be why a backup is restored. Saves the side files before closing deletes them.
    for (const side of ['-wal', '-shm']) if (existsSync(target + side)) renameSync(target + side, keepAs + side);
  } finally {
    old.close();
  }
  try {
    linkSync(target, keepAs);
  } catch {
    // Not every file system has hard links.
    copyFileSync(target, keepAs);
    flush(keepAs);
  }
}

/** Flushes a file, or the names in a folder, to disk. */
function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
