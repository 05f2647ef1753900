import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../catalog/plugin-file.ts';

/** Files that the bundler looks for and reads by itself (https://esbuild.github.io/api/#main-fields, #tsconfig). */
const OWN_READS = new Set(['package.json', 'tsconfig.json', 'jsconfig.json', '.pnp.data.json', '.pnp.cjs', '.pnp.js']);

/** Whether the bundler reads such a file by itself, where nobody imports it. */
export function isReadByBundler(file: string): boolean {
  return OWN_READS.has(basename(file));
}

/**
 * Looks, before the bundler does, at the folders on its way to an import, and at what it would read there by itself.
 * Each folder is looked at once.
 * @param watched whether a folder is one in which plugins or packages lie
 * @param allowed whether a file may be read, by its path without symbolic links
 * @returns by specifier and the importer's folder, the first file or folder that the bundler must not open
 */
export function packageFiles(
  watched: (folder: string) => boolean,
  allowed: (file: string) => boolean,
): (specifier: string, resolveDir: string) => Promise<string | undefined> {
  const seen = new Map<string, Promise<string | undefined>>();

  const ofFolder = (folder: string): Promise<string | undefined> => {
    if (!watched(folder)) return Promise.resolve(undefined);
    const before = seen.get(folder);
    if (before !== undefined) return before;
    const first = ofFolder(dirname(folder)).then(async (above) => {
      if (above !== undefined) return above;
      if (await leadsAway(folder, allowed)) return folder;
      // Of Yarn's files only those of the folder that the build runs in are read, and it is the topmost one watched.
      const names = watched(dirname(folder)) ? ['package.json'] : OWN_READS;
      for (const name of names) if (!(await mayBeRead(join(folder, name), allowed))) return join(folder, name);
      return undefined;
    });
    seen.set(folder, first);
    return first;
  };

  return async (specifier, resolveDir) => {
    if (resolveDir === '' && !specifier.startsWith('/')) return undefined;
    // What follows ? or # is a part of the file's name to the bundler, or else nothing of it.
    for (const path of new Set([specifier, specifier.replace(/[?#].*$/s, '')])) {
      for (const folder of foldersOf(path, resolveDir)) {
        const refused = await ofFolder(folder);
        if (refused !== undefined) return refused;
      }
    }
    return undefined;
  };
}

/** Where the bundler looks for an import, with it as the name of a folder; the folders above each belong to it. */
function foldersOf(specifier: string, resolveDir: string): string[] {
  if (specifier.startsWith('/')) return [join(specifier)];
  if (/^\.{1,2}(\/|$)/.test(specifier)) return [join(resolveDir, specifier)];
  const folders = [resolveDir];
  for (let folder = resolveDir; ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules', specifier));
    if (folder === dirname(folder)) return folders;
  }
}

/** Whether nothing is there, or an ordinary file that may be read: to open a pipe would be to wait for its writer. */
async function mayBeRead(file: string, allowed: (file: string) => boolean): Promise<boolean> {
  if (await leadsAway(file, allowed)) return false;
  const state = await stat(file).catch(() => undefined);
  return state === undefined || state.isDirectory() || state.isFile();
}

/**
 * Whether this is a link to what may not be read. What confines the bundler hides that, so that a link to nothing cannot
 * be told from it.
 * @param path a folder of it that is a link is not what is asked for
 */
export async function leadsAway(path: string, allowed: (file: string) => boolean): Promise<boolean> {
  const isLink = await lstat(path).then(
    (state) => state.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return false;
  const target = await realpath(path).catch(() => undefined);
  return target === undefined || !allowed(target);
}

/** Whether a folder is one of these, or lies below one. */
export function isWithin(folders: readonly string[], folder: string): boolean {
  return folders.some((one) => one === folder || isInside(one, folder));
}
