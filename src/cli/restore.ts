import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lockDataDir } from '../store/lock.ts';
import { restoreSqlite, UnsignedTransactions } from '../store/restore.ts';
import type { Command } from './command.ts';
import { environmentOf } from './settings.ts';

/** Puts a backup into an embedded store that no server uses. */
export const restoreCommand: Command = {
  usage: 'restore <file> [--replace] [--send-unsigned | --fail-unsigned]',
  summary: 'Put a backup into DATA_DIR while no server runs; --replace keeps what was there under another name',
  flags: ['replace', 'send-unsigned', 'fail-unsigned'],
  arguments: 1,
  async run(context, { values: [file = ''], flags }) {
    const { DATABASE_URL, DATA_DIR } = await environmentOf(context);
    if (DATABASE_URL !== undefined) {
      context.complain('The state is in PostgreSQL (DATABASE_URL): restore it with pg_restore or psql.');
      return 1;
    }
    if (flags.has('send-unsigned') && flags.has('fail-unsigned')) {
      throw new Error('Choose one of --send-unsigned and --fail-unsigned');
    }
    const source = resolve(context.cwd, file);
    if (!existsSync(source)) throw new Error(`There is no file ${source}`);
    const dataDir = resolve(context.cwd, DATA_DIR);
    const lock = lockDataDir(dataDir);
    try {
      const target = join(dataDir, 'isolayer.db');
      const isThere = existsSync(target);
      if (isThere && !flags.has('replace')) {
        throw new Error(`There is a database in ${dataDir}; --replace puts the backup in its place and keeps it`);
      }
      const keepAs = `${target}.replaced-${context.now().toISOString().replaceAll(/[:.]/g, '-')}`;
      const unsigned = flags.has('send-unsigned') ? 'send' : flags.has('fail-unsigned') ? 'fail' : undefined;
      await restoreSqlite({
        source,
        target,
        ...(isThere ? { keepAs } : {}),
        ...(unsigned === undefined ? {} : { unsigned }),
      });
      context.say(`Restored into ${dataDir}`);
      if (isThere) context.say(`What was there is now ${keepAs}`);
      return 0;
    } catch (error) {
      if (!(error instanceof UnsignedTransactions)) throw error;
      context.complain(`${error.message}. If the service ran after the backup was taken, it may have sent them.`);
      context.complain('  --send-unsigned  it did not run: they are sent when it starts');
      context.complain('  --fail-unsigned  it ran: they end as failed and are not sent, so nothing is paid twice');
      return 1;
    } finally {
      lock.release();
    }
  },
};
