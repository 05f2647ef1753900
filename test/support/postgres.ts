import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pg from 'pg';
import { canEnter, installedPostgres, type Owner, ownerOfServers, postgresBinaries } from './postgres-binaries.ts';
import { descendantsOf, survivors } from './processes.ts';
import { quickFolder, sharedFolder } from './run-folder.ts';

/** A real PostgreSQL server from npm. It is reachable only through a socket in its own temporary folder. */
export interface Postgres {
  /** Makes an empty database. */
  createDatabase(): Promise<string>;
  /** Makes a copy of this database, as a backup. Nobody may be connected to it. */
  copyDatabase(url: string): Promise<string>;
  /** Replaces the database with a copy of the backup, as an operator does who restores one. Cuts its connections. */
  restoreDatabase(url: string, backup: string): Promise<void>;
  /** Cuts the connections of a database, as a failing server or an impatient administrator would. */
  cutConnections(url: string): Promise<void>;
  /** Stops all processes of the server. Connections stay open, but get no answers. Linux only. */
  freeze(): Promise<void>;
  /** Lets the processes continue. */
  thaw(): void;
  /** Ends the server at once, as a crash would. Committed data stays for `restart`. */
  crash(): Promise<void>;
  /** Sends SIGKILL to the server and all its processes. Otherwise as `crash`. Linux only. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** Short leases, for tests of takeovers. */
export const hastyLeases = { leaseMs: 2_000, idleInTransactionMs: 1_000 };

const READY = /database system is ready to accept connections/;
const READY_WITHIN_MS = 30_000;
const ENDED_WITHIN_MS = 10_000;
const SUPERUSER = 'postgres';

/** Folders for all users' files, used if the user's own temporary folder is closed to other users. */
const PUBLIC_FOLDERS = ['/tmp', '/var/tmp'];

/**
 * Makes the server reachable only through its folder. Its shared memory lies in the folder too, and is removed with it.
 */
const SETTINGS = ['-c', 'listen_addresses=', '-c', 'dynamic_shared_memory_type=mmap'];

export interface PostgresOptions {
  /** Whether commits are flushed to disk. */
  durable?: boolean;
  /** Settings of the server, by name, as `postgresql.conf` has them. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Makes and starts a cluster. Durability is off unless a test is about crashes, because the data is only for the test.
 */
export async function startPostgres({ durable = false, settings: more = {} }: PostgresOptions = {}): Promise<Postgres> {
  const owner = ownerOfServers();
  const home = [quickFolder(), ...PUBLIC_FOLDERS].find((one) => canEnter(one, owner));
  if (home === undefined) throw new Error(`who runs PostgreSQL (user ${owner.uid}) can enter no temporary folder`);
  const folder = await mkdtemp(join(home, 'isolayer-pg-'));
  const data = join(folder, 'data');
  await chmod(folder, 0o755);
  const given = Object.entries(more).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const settings = [...(durable ? [] : ['-F']), ...given];
  const shared = home === sharedFolder() ? home : undefined;
  const binaries = await postgresBinaries(installedPostgres(), owner, shared ?? folder);
  await makeCluster(binaries.initdb, data, owner, shared);

  const launch = () => launchServer(binaries.postgres, ['-D', data, '-k', data, ...SETTINGS, ...settings], owner, data);
  let server = await launch();
  /** Stopped processes of the server. They would not notice the server's end. */
  let frozen: number[] = [];
  const signalFrozen = (signal: NodeJS.Signals) => {
    for (const pid of frozen) send(pid, signal);
    frozen = [];
  };
  const killWithUs = () => {
    server.kill('SIGKILL');
    signalFrozen('SIGKILL');
  };
  process.once('exit', killWithUs);

  const { port } = more;
  const place = `host=${encodeURIComponent(data)}${port === undefined ? '' : `&port=${port}`}`;
  const urlOf = (database: string) => `postgres://${SUPERUSER}@/${database}?${place}`;
  const administer = async (statement: string, values: string[] = []) => {
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    try {
      await client.query(statement, values);
    } finally {
      await client.end();
    }
  };

  const newName = () => `t_${randomUUID().replaceAll('-', '')}`;
  const nameOf = (url: string) => basename(new URL(url.replace('@/', '@localhost/')).pathname);

  return {
    async createDatabase() {
      const name = newName();
      // Copies files. The other strategy writes every page to the journal.
      await administer(`create database ${name} strategy file_copy`);
      return urlOf(name);
    },
    async copyDatabase(url) {
      const name = newName();
      await administer(`create database ${name} template ${nameOf(url)} strategy file_copy`);
      return urlOf(name);
    },
    async restoreDatabase(url, backup) {
      await administer(`drop database ${nameOf(url)} with (force)`);
      await administer(`create database ${nameOf(url)} template ${nameOf(backup)} strategy file_copy`);
    },
    async cutConnections(url) {
      await administer('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [nameOf(url)]);
    },
    async freeze() {
      const { pid = 0 } = server;
      // Stops the parent process first, so that it starts no further processes.
      process.kill(pid, 'SIGSTOP');
      frozen = [pid, ...(await descendantsOf(pid)).map((one) => one.pid)];
      for (const one of frozen) process.kill(one, 'SIGSTOP');
    },
    thaw: () => signalFrozen('SIGCONT'),
    crash: () => end(server, 'SIGQUIT'),
    async kill() {
      const below = await descendantsOf(server.pid ?? 0);
      await end(server, 'SIGKILL');
      for (const { pid } of below) send(pid, 'SIGKILL');
      await survivors(below, ENDED_WITHIN_MS);
    },
    async restart() {
      server = await launch();
    },
    async stop() {
      process.removeListener('exit', killWithUs);
      signalFrozen('SIGCONT');
      await end(server, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes an empty cluster. Later files of a run copy the first file's cluster, because making one takes six times as
 * long.
 */
async function makeCluster(initdb: string, data: string, owner: Owner, shared: string | undefined): Promise<void> {
  if (shared === undefined) return await initialise(initdb, data, owner);
  const first = join(shared, 'cluster');
  if (!existsSync(first)) {
    const folder = await mkdtemp(join(shared, 'initdb-'));
    await chmod(folder, 0o755);
    const made = join(folder, 'data');
    await initialise(initdb, made, owner);
    // Another test file may have made the cluster first. That cluster is as good.
    await rename(made, first).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  }
  await makeDataFolder(data, owner);
  const copies = spawn('cp', ['-R', '-p', `${first}/.`, data], {
    ...owner,
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await exitedWell(copies, 'cp');
}

async function initialise(initdb: string, data: string, owner: Owner): Promise<void> {
  await makeDataFolder(data, owner);
  const inits = spawn(
    initdb,
    ['-D', data, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    { ...owner, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await exitedWell(inits, 'initdb');
}

async function makeDataFolder(data: string, { uid, gid }: Owner): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) await chown(data, uid, gid);
}

async function launchServer(command: string, args: string[], owner: Owner, cwd: string): Promise<ChildProcess> {
  const server = spawn(command, args, { ...owner, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = setTimeout(() => reject(new Error(`PostgreSQL did not start: ${said}`)), READY_WITHIN_MS);
  server.once('error', reject);
  server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4096);
    if (READY.test(said)) resolve();
  });
  try {
    await promise;
    return server;
  } catch (error) {
    server.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill(signal);
  await exit;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

async function exitedWell(child: ChildProcess, name: string): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${said}`);
}
