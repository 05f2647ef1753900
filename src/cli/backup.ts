import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createLog } from '../observability/log.ts';
import { backupSqlite } from '../store/backup.ts';
import { loadSealingKey } from '../store/storage-key.ts';
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
    const randomBytes = (): never => {
      throw new Error(`There is no storage key in ${dataDir}, which a backup needs`);
    };
    const [key] = loadSealingKey({
      dataDir,
      configured: STORAGE_ENCRYPTION_KEY,
      randomBytes,
      log: createLog('silent'),
    });
    if (key === undefined) throw new Error('there is no storage key');
    await backupSqlite(database, target, key);
    context.say(`Written to ${target}`);
    const place = STORAGE_ENCRYPTION_KEY === undefined ? join(dataDir, 'storage-key') : 'STORAGE_ENCRYPTION_KEY';
    context.say(`Its secrets are sealed, and it cannot be changed unnoticed: keep ${place} too, and not beside it.`);
    return 0;
  },
};
