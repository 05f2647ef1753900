import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The program itself, its packages, and the guest runtime, which is bundled as well. */
const OWN_FILES = ['src', 'sandbox', 'node_modules', 'package.json'].map((name) =>
  join(import.meta.dirname, '../../..', name),
);

/** A file or a folder that the bundler may read, with all that lies below it. */
export interface ReadableFile {
  /** Absolute. No folder above it is a link. */
  path: string;
  /** Where it leads: the same path when it is no link. */
  target: string;
  isFolder: boolean;
  /** Differs when another file or folder takes the same place. */
  identity: string;
}

/**
 * The existing files and folders that builds are made of.
 * @param roots plugins folders, absolute and without symbolic links
 */
export function readableFiles(roots: readonly string[]): ReadableFile[] {
  const packages = roots.flatMap((root) => packageFolders(dirname(root)));
  return [...new Set([...OWN_FILES, ...roots, ...packages])].flatMap((path) => {
    const target = targetOf(path);
    if (target === undefined) return [];
    const state = statSync(target, { throwIfNoEntry: false });
    if (state === undefined) return [];
    return [{ path, target, isFolder: state.isDirectory(), identity: `${state.dev}:${state.ino}` }];
  });
}

/** Every `node_modules` that Node's own resolution looks into for a file in this folder, whether it is there or not. */
export function packageFolders(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, 'node_modules'), ...(above === folder ? [] : packageFolders(above))];
}

/** A path without symbolic links; undefined when it leads to nothing, or to a place that may not be looked at. */
export function targetOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
