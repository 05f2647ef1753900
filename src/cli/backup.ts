import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backupSqlite } from '../store/backup.ts';
import type { Command } from './command.ts';
import { environmentOf } from './settings.ts';

/** Copies the embedded store, also while the service runs. */
export const backupCommand: Command = {
  usage: 'backup <file>',
  summary: 'Copy the database of DATA_DIR into a new file; the service may run meanwhile',
  flags: [],
  arguments: 1,
  async run(context, { values: [file = ''] }) {
    const { DATABASE_URL, DATA_DIR, STORAGE_ENCRYPTION_KEY } = await environmentOf(context);
    if (DATABASE_URL !== undefined) {
      context.complain('The state is in PostgreSQL (DATABASE_URL): back it up with pg_dump.');
      return 1;
    }
    const dataDir = resolve(context.cwd, DATA_DIR);
    const database = join(dataDir, 'isolayer.db');
    if (!existsSync(database)) throw new Error(`There is no database in ${dataDir}`);
    const target = resolve(context.cwd, file);
    if (existsSync(target)) throw new Error(`${target} exists; a backup never overwrites`);
    await backupSqlite(database, target);
    context.say(`Written to ${target}`);
    const key = STORAGE_ENCRYPTION_KEY === undefined ? join(dataDir, 'storage-key') : 'STORAGE_ENCRYPTION_KEY';
    context.say(`Its secrets are sealed: keep ${key} too, and not beside it.`);
    return 0;
  },
};
