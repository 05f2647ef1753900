import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The program itself, its packages, and the guest runtime, which is bundled as well. */
const OWN_FILES = ['src', 'sandbox', 'node_modules', 'package.json'].map((name) =>
  join(import.meta.dirname, '../../..', name),
);

/** A file or a folder that the bundler may read, with all that lies below it. */
export interface ReadableFile {
  /** As it is spelled: absolute, and no folder above it is a link. */
  path: string;
  /** The same where it is no link itself. */
  target: string;
  isFolder: boolean;
  /** Another one in the same place has another identity. */
  identity: string;
}

/**
 * What builds are made of, as far as it is there.
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

/** Where a path leads, without symbolic links; undefined where that is nowhere, or nowhere that may be looked at. */
export function targetOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
