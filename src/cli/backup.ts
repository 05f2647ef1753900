import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { systemClock } from '../domain/clock.ts';
import { ChangeFeed } from '../engine/change-feed.ts';
import { TransactionLedger } from '../engine/lane/ledger.ts';
import {
  beginEpoch,
  failUnsigned,
  RESTORE_ANSWERS,
  textOfUnfinished,
  unfinishedIn,
} from '../engine/rollback-detector.ts';
import { Outbox } from '../engine/webhooks/outbox.ts';
import { createLog, type Log } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import { backupSqlite, checkBackup } from '../store/backup.ts';
import { openPostgresStore } from '../store/postgres/postgres.ts';
import { restoreSqlite } from '../store/restore.ts';
import { createSealer, loadSealingKey } from '../store/sealing.ts';
import { type FolderMemory, type KnownHistory, openFolderMemory } from '../store/sqlite/folder-memory.ts';
import { lockDataDir } from '../store/sqlite/lock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite.ts';
import type { Store } from '../store/store.ts';
import type { Command, CommandContext } from './command.ts';
import { readCommandEnvironment } from './settings.ts';

/** Copies the embedded store, also while the service runs. */
export const backupCommand: Command = {
  usage: 'backup <file>',
  summary: 'Copy the database of DATA_DIR into a new file; the service may run meanwhile',
  flags: [],
  arguments: 1,
  async run(context, { values: [file = ''] }) {
    const { DATABASE_URL, DATA_DIR, STORAGE_ENCRYPTION_KEY } = await readCommandEnvironment(context);
    if (DATABASE_URL !== undefined) {
      context.complain('The state is in PostgreSQL (DATABASE_URL): back it up with pg_dump.');
      return 1;
    }
    const dataDir = resolve(context.cwd, DATA_DIR);
    const database = join(dataDir, 'isolayer.db');
    if (!existsSync(database)) throw new Error(`There is no database in ${dataDir}`);
    const target = resolve(context.cwd, file);
    if (existsSync(target)) throw new Error(`${target} exists; a backup never overwrites`);
    const noKey = (): never => {
      throw new Error(`There is no storage key in ${dataDir}, which a backup needs`);
    };
    const [key] = loadSealingKey({
      dataDir,
      configured: STORAGE_ENCRYPTION_KEY,
      randomBytes: noKey,
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

const ANSWERS: readonly UnsignedAnswer[] = ['compare', 'fail', 'send'];

/** The backup to restore, and its target. */
interface Task {
  context: CommandContext;
  /** Absent: the database itself has been restored already. */
  file: string | undefined;
  isReplacing: boolean;
  /** Whether a backup without an authentication code is taken. */
  isTrusting: boolean;
  dataDir: string;
  url: string | undefined;
  storageKey: string | undefined;
  answer: UnsignedAnswer | undefined;
}

/**
 * Restores a backup into an embedded store that no server uses, and settles the unsigned transactions of a restored
 * store.
 */
export const restoreCommand: Command = {
  usage: 'restore [<file>] [--replace] [--unauthenticated] [--compare-unsigned | --fail-unsigned | --send-unsigned]',
  summary:
    'While no server runs: put a backup into DATA_DIR (--replace keeps what was there under another name). Without a file, also for PostgreSQL after pg_restore: decide what becomes of unsigned transactions',
  flags: ['replace', 'unauthenticated', 'compare-unsigned', 'fail-unsigned', 'send-unsigned'],
  arguments: { min: 0, max: 1 },
  async run(context, { values: [file], flags }) {
    const { DATABASE_URL: url, DATA_DIR, STORAGE_ENCRYPTION_KEY: storageKey } = await readCommandEnvironment(context);
    if (url !== undefined && file !== undefined) {
      context.complain('The state is in PostgreSQL (DATABASE_URL): restore it with pg_restore or psql.');
      context.complain('Then run `restore` without a file: it asks what to do with unsigned transactions.');
      return 1;
    }
    const [answer, second] = ANSWERS.filter((one) => flags.has(`${one}-unsigned`));
    if (second !== undefined) throw new Error(`Choose one of --${answer}-unsigned and --${second}-unsigned`);
    const dataDir = resolve(context.cwd, DATA_DIR);
    const lock = lockDataDir(dataDir);
    try {
      const [isReplacing, isTrusting] = [flags.has('replace'), flags.has('unauthenticated')];
      await restore({ context, file, isReplacing, isTrusting, dataDir, url, storageKey, answer });
      return 0;
    } catch (error) {
      if (!(error instanceof UnsignedTransactions)) throw error;
      context.complain(
        `${error.message}. If the service ran after the backup was taken, it may have done what they do.`,
      );
      for (const [flag, text] of RESTORE_ANSWERS) context.complain(`  ${flag.padEnd(18)}  ${text}`);
      return 1;
    } finally {
      lock.release();
    }
  },
};

async function restore(task: Task): Promise<void> {
  const { context, dataDir, url, file } = task;
  const memory = openFolderMemory(dataDir);
  if (url !== undefined) {
    await settled(task, memory, () => openPostgresStore({ url, log: damageLog(task), sealer: sealerOf(task) })).then(
      memory.keep,
    );
    context.say('Answered: the service starts on the database as it is now');
    return;
  }
  const target = join(dataDir, 'isolayer.db');
  const isThere = existsSync(target);
  if (file === undefined) {
    if (!isThere) throw new Error(`There is no database in ${dataDir}: name the backup to restore`);
    await settled(task, memory, () => openEmbedded(task, target)).then(memory.keep);
    context.say(`Answered: the service starts on ${target} as it is now`);
    return;
  }
  const source = resolve(context.cwd, file);
  if (!existsSync(source)) throw new Error(`There is no file ${source}`);
  if (isThere && !task.isReplacing) {
    throw new Error(`There is a database in ${dataDir}; --replace puts the backup in its place and keeps it`);
  }
  await assertAuthentic(task, source);
  const keepAs = `${target}.replaced-${context.now().toISOString().replaceAll(/[:.]/g, '-')}`;
  const settle = (draft: string) => settled(task, memory, () => openEmbedded(task, draft));
  await memory.keep(await restoreSqlite({ source, target, settle, ...(isThere ? { keepAs } : {}) }));
  context.say(`Restored into ${dataDir}`);
  if (isThere) context.say(`What was there is now ${keepAs}`);
}

/** @throws when the backup was changed, or nothing shows that it was not */
async function assertAuthentic(task: Task, source: string): Promise<void> {
  const state = await checkBackup(source, keysOf(task));
  if (state === 'changed') {
    throw new Error(
      `${source} was changed after it was made, or it was made under another storage key. It is not restored: who changed it could have given himself an API key. Take another backup.`,
    );
  }
  if (state === 'absent' && !task.isTrusting) {
    throw new Error(
      `${source} has no authentication code: an earlier version made it, it was copied by hand, or somebody changed it. Who could write it may have given himself an API key. If you know that nobody could: --unauthenticated`,
    );
  }
}

/** Opens a store, settles its unsigned transactions, and closes it. */
async function settled({ answer }: Task, { folder }: FolderMemory, open: () => Promise<Store>) {
  const store = await open();
  try {
    return await settleUnsignedTransactions(store, { answer, folder });
  } finally {
    await store.close();
  }
}

function openEmbedded(task: Task, path: string): Promise<Store> {
  return openSqliteStore({ path, log: damageLog(task), clock: systemClock, sealer: sealerOf(task) });
}

/** Tells of the stored secrets that cannot be opened: whoever restores may have a better backup. */
function damageLog({ context }: Task): Log {
  return createLog('error', {
    write(line) {
      const { msg, err, effect } = JSON.parse(line) as { msg: string; err?: { message?: string }; effect?: string };
      context.complain([err?.message ?? msg, effect].filter(Boolean).join(': '));
    },
  });
}

function sealerOf(task: Task) {
  return createSealer(keysOf(task), randomBytes);
}

/**
 * Returns the existing storage key. Throws instead of creating one, because a new key could not open the backup's
 * secrets.
 */
function keysOf({ dataDir, storageKey }: Task): Uint8Array[] {
  const noKey = (): never => {
    throw new Error(`There is no storage key in ${dataDir}: bring the one that belongs to the backup`);
  };
  return loadSealingKey({ dataDir, configured: storageKey, randomBytes: noKey, log: createLog('silent') });
}

/**
 * What to do with unsigned transactions in a restored copy. The service may have sent them after the copy was made.
 * `compare`: the service compares them with the chain when it starts.
 */
type UnsignedAnswer = 'send' | 'fail' | 'compare';

/** The copy holds unsigned transactions, calls or triggers, so it needs an answer before it is used. */
class UnsignedTransactions extends Error {
  constructor(holds: string) {
    super(`The database holds ${holds}`);
    this.name = 'UnsignedTransactions';
  }
}

/**
 * The time after which an instance without a new mark counts as stopped. It is longer than the time between two marks.
 */
const ALIVE_MS = 15_000;

/**
 * Settles the unsigned transactions of a restored database and starts a new epoch, so that no instance asks again.
 * Changes nothing when it throws.
 * @throws UnsignedTransactions when something would act again and there is no answer, or an error while an instance uses
 * the database
 */
export async function settleUnsignedTransactions(
  store: Store,
  { answer, folder }: { answer: UnsignedAnswer | undefined; folder: string },
): Promise<KnownHistory> {
  const { marks } = await store.read.history();
  const latest = Math.max(0, ...[...marks.values()].map(({ at }) => at));
  const agoMs = (await store.now()) - latest;
  if (store.buckets !== null && agoMs < ALIVE_MS) {
    const seconds = Math.ceil((ALIVE_MS - agoMs) / 1000);
    throw new Error(`An instance uses this database, or did until just now. Stop all, and try again in ${seconds} s`);
  }
  const holds = textOfUnfinished(await unfinishedIn(store.read));
  if (holds !== undefined && answer === undefined) throw new UnsignedTransactions(holds);
  if (answer === 'fail') await failUnsigned(store, ledgerOn(store));
  const place = await store.place();
  return await store.write(async (writer) => {
    const release = answer === 'send' ? { upTo: await writer.latestAcceptance(), endsAt: null } : null;
    await writer.putRelease(release);
    return beginEpoch(writer, { folder, epoch: randomUUID(), place });
  });
}

/** Creates the engine's ledger for a database that no engine runs on. */
function ledgerOn(store: Store): TransactionLedger {
  const chains = createChains(systemClock);
  const log = createLog('silent');
  return new TransactionLedger(store, {
    feed: new ChangeFeed(() => undefined),
    metrics: createMetrics(),
    outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => undefined, log }),
    chains,
    log,
    // No engine holds this state in memory.
    onDoubt: () => undefined,
  });
}
