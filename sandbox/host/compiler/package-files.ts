import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isInside } from './source-files.ts';

/** Files that the bundler looks for and reads by itself (https://esbuild.github.io/api/#main-fields, #tsconfig). */
const OWN_READS = new Set(['package.json', 'tsconfig.json', 'jsconfig.json', '.pnp.data.json', '.pnp.cjs', '.pnp.js']);

/** Whether the bundler reads such a file by itself, without an import. */
export function isReadByBundler(file: string): boolean {
  return OWN_READS.has(basename(file));
}

/**
 * Checks the folders on the way to an import, and the files that the bundler would read there by itself, before the
 * bundler does. Checks each folder once.
 * @param watched whether plugins or packages lie in a folder
 * @param allowed whether a file may be read, by its path without symbolic links
 * @returns a function of the specifier and the importer's folder: the first file or folder that the bundler must not
 *   open
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
      if (await isForbiddenLink(folder, allowed)) return folder;
      // The bundler reads Yarn's files only in the folder in which the build runs. That is the topmost watched folder.
      const names = watched(dirname(folder)) ? ['package.json'] : OWN_READS;
      for (const name of names) if (await isForbiddenLink(join(folder, name), allowed)) return join(folder, name);
      return undefined;
    });
    seen.set(folder, first);
    return first;
  };

  return async (specifier, resolveDir) => {
    if (resolveDir === '' && !specifier.startsWith('/')) return undefined;
    // The bundler may take the text after ? or # for a part of the file's name, or leave it out. Both paths are
    // checked.
    for (const path of new Set([specifier, specifier.replace(/[?#].*$/s, '')])) {
      for (const folder of foldersOf(path, resolveDir)) {
        const refused = await ofFolder(folder);
        if (refused !== undefined) return refused;
      }
    }
    return undefined;
  };
}

/**
 * The folders in which the bundler looks for an import, with the import itself as the name of a folder. The folders
 * above each one are checked with it.
 */
function foldersOf(specifier: string, resolveDir: string): string[] {
  if (specifier.startsWith('/')) return [join(specifier)];
  if (/^\.{1,2}(\/|$)/.test(specifier)) return [join(resolveDir, specifier)];
  const folders = [resolveDir];
  for (let folder = resolveDir; ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules', specifier));
    if (folder === dirname(folder)) return folders;
  }
}

/**
 * Whether the path is a link to a file that may not be read, or to nothing.
 * @param path only its last part is checked, not the folders above
 */
export async function isForbiddenLink(path: string, allowed: (file: string) => boolean): Promise<boolean> {
  const isLink = await lstat(path).then(
    (state) => state.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return false;
  const target = await realpath(path).catch(() => undefined);
  return target === undefined || !allowed(target);
}

/** Whether a folder is one of these, or lies below one. */
export function isWithinFolders(folders: readonly string[], folder: string): boolean {
  return folders.some((one) => one === folder || isInside(one, folder));
}
