import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import type { HostFailure } from '../../../../../sandbox/contract.ts';
import { isInside, type PluginFile } from '../../../../../sandbox/host/sandbox.ts';

/** Largest plugin source, in bytes. */
const SOURCE_BYTES = 5 * 1_048_576;

/** The path of an entry, relative to the plugins folder. The reference's files put `plugins/` in front. */
export function entryPath(path: string): string {
  return path.replace(/^(\.\/)?plugins\//, '').replace(/^\.\//, '');
}

/** How a file below the plugins folder is shown, whatever the folder's real name is. */
export function pluginLabel(root: string, file: string): string {
  return `plugins/${relative(root, file).split(sep).join('/')}`;
}

/**
 * Finds an entry's file.
 * @param root the plugins folder, absolute and without symbolic links
 * @returns the file, or why there is none, with one of the reference's codes
 */
export async function findPluginFile(root: string, id: string, path: string): Promise<PluginFile | HostFailure> {
  const wanted = resolve(root, entryPath(path));
  const label = pluginLabel(root, wanted);
  const fail = (code: string, message: string): HostFailure => ({
    code,
    message,
    status: 500,
    details: { pluginId: id, file: label },
  });

  const outside = 'Plugin path must be within allowed directory';
  if (isAbsolute(path) || !isInside(root, wanted)) return fail('PATH_TRAVERSAL', `${outside}: ${path}`);
  const file =
    (await firstExisting([wanted, join(wanted, 'index.ts'), join(wanted, 'index.js')])) ??
    (await firstExisting([join(wanted, (await packageMain(wanted)) ?? '')]));
  if (file === undefined) return fail('FILE_NOT_FOUND', `File not found: ${label}`);
  // A link may point anywhere, so its target is checked.
  if (!isInside(root, file)) return fail('PATH_TRAVERSAL', `${outside}: ${label} is a link that leads out of it`);
  const { size } = await stat(file);
  try {
    await access(file, constants.R_OK);
  } catch {
    return fail('FILE_NOT_READABLE', `File not readable: ${label}`);
  }
  if (size > SOURCE_BYTES) {
    return fail('SIZE_LIMIT', `Source of ${label} has ${size} bytes, more than ${SOURCE_BYTES}`);
  }
  if (size === 0) return fail('COMPILE_ERROR', `Source code is empty for ${label}`);
  return { file, label: pluginLabel(root, file) };
}

/** The first candidate that is a file, without symbolic links. */
async function firstExisting(candidates: string[]): Promise<string | undefined> {
  for (const candidate of candidates) {
    try {
      const file = await realpath(candidate);
      if ((await stat(file)).isFile()) return file;
    } catch {
      // This candidate does not exist.
    }
  }
  return undefined;
}

/** The largest `package.json` that is read, in bytes. */
const MAX_BYTES = 262_144;
const ENDS = ['', '.ts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js'];

/**
 * The file that the `package.json` of a plugin's folder names as its `main`, relative to that folder.
 * @param folder absolute
 * @returns undefined when no such file exists
 */
export async function packageMain(folder: string): Promise<string | undefined> {
  const main = await mainOf(join(folder, 'package.json'));
  if (main === undefined) return undefined;
  const path = posix.join('.', main);
  if (path.startsWith('../')) return undefined;
  for (const end of ENDS) if (await isFile(join(folder, path + end))) return path + end;
  return undefined;
}

async function mainOf(file: string): Promise<string | undefined> {
  try {
    const facts = await stat(file);
    if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
    const { main } = JSON.parse(await readFile(file, 'utf8')) as { main?: unknown };
    return typeof main === 'string' && main !== '' ? main : undefined;
  } catch {
    return undefined;
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}
