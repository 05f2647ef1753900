import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

/**
 * Copies a SQLite store as of one moment, even while the service writes to it. The copy is a database of its own. At its
 * end it has an authentication code ({@link checkBackup}), which SQLite does not read.
 * @param target a file that does not exist yet; a failed copy is removed
 * @param key the storage key
 * @throws when the source is no readable database, or the target exists
 */
export async function backupSqlite(path: string, target: string, key: Uint8Array): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    // Creates the file first, with the owner as its only reader: a backup holds the same secrets as the database.
    closeSync(openSync(target, 'wx', 0o600));
    const sides = [`${target}-wal`, `${target}-shm`];
    try {
      holdMoment(source);
      await backup(source, target);
      assertWhole(target);
      await appendCode(target, key);
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

/** Begins the code at the end of a backup. */
const MARK = Buffer.from('isolayer backup\0');
const CODE_BYTES = 32;

async function appendCode(target: string, key: Uint8Array): Promise<void> {
  const code = await codeOf(target, statSync(target).size, key);
  const file = openSync(target, 'a');
  try {
    writeSync(file, Buffer.concat([MARK, code]));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks that a backup is as it was made, by whoever has the storage key. Who can change a backup could otherwise plant
 * an API key in it, or swap records.
 * @param keys any of which may have made it
 * @returns `absent` for a file without a code: of an earlier version, copied by hand, or cut off by somebody
 */
export async function checkBackup(
  source: string,
  keys: readonly Uint8Array[],
): Promise<'authentic' | 'changed' | 'absent'> {
  const end = statSync(source).size - MARK.length - CODE_BYTES;
  if (end < 0) return 'absent';
  const trailer = Buffer.alloc(MARK.length + CODE_BYTES);
  const file = openSync(source, 'r');
  try {
    readSync(file, trailer, 0, trailer.length, end);
  } finally {
    closeSync(file);
  }
  if (!trailer.subarray(0, MARK.length).equals(MARK)) return 'absent';
  const given = trailer.subarray(MARK.length);
  for (const key of keys) if (timingSafeEqual(await codeOf(source, end, key), given)) return 'authentic';
  return 'changed';
}

/** The HMAC-SHA-256 of the first bytes of a file, under a key of its own (RFC 5869). */
async function codeOf(path: string, bytes: number, key: Uint8Array): Promise<Buffer> {
  const own = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'isolayer backup', CODE_BYTES));
  const hmac = createHmac('sha256', own);
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hmac.update(chunk as Buffer);
  return hmac.digest();
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
