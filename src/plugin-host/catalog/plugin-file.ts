import { access, constants, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { PluginFile } from '../../../sandbox/host/compiler/compiler.ts';
import { isInside } from '../../../sandbox/host/compiler/source-files.ts';
import type { HostFailure } from '../../../sandbox/host/surroundings.ts';
import { packageMain } from './package-main.ts';

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
