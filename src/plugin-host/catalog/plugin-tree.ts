import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The files and folders of the plugins folder, without its packages. */
export interface PluginTree {
  /** Absolute path to a stamp that changes when the file does. */
  files: ReadonlyMap<string, string>;
  /** Absolute paths of the folders that were read, the root among them. */
  folders: readonly string[];
}

/** Written by npm whenever it installs: stands for all files below its `node_modules`. */
export const INSTALL_RECORD = '.package-lock.json';

/** Reads the folder and everything below it but `node_modules` and names that begin with a dot. */
export async function readPluginTree(root: string): Promise<PluginTree> {
  const files = new Map<string, string>();
  const folders: string[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const children = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (children === undefined) continue;
    folders.push(folder);
    for (const child of children) {
      const path = join(folder, child.name);
      if (child.name === 'node_modules') await addStamp(files, join(path, INSTALL_RECORD));
      else if (child.name.startsWith('.')) continue;
      else if (child.isDirectory()) waiting.push(path);
      else await addStamp(files, path);
    }
  }
  return { files, folders };
}

/**
 * The most readings that wait for the folder to come to rest. A file that is written all the time must not delay builds
 * forever.
 */
const SETTLING = 20;

/**
 * Reads the folder until two readings, `pauseMs` apart, are the same. So no plugin is built from a change that is half
 * done.
 * @param isOver asked before each reading
 */
export async function settledTree(
  root: string,
  first: PluginTree,
  pauseMs: number,
  isOver: () => boolean,
): Promise<PluginTree> {
  let tree = first;
  for (let left = SETTLING; left > 0 && !isOver(); left--) {
    await sleep(pauseMs);
    const next = await readPluginTree(root);
    if (changedFiles(tree, next).size === 0) return next;
    tree = next;
  }
  return tree;
}

/** The files that were added, changed or removed between two readings. */
export function changedFiles(before: PluginTree, after: PluginTree): Set<string> {
  const changed = new Set<string>();
  for (const [path, stamp] of after.files) if (before.files.get(path) !== stamp) changed.add(path);
  for (const path of before.files.keys()) if (!after.files.has(path)) changed.add(path);
  return changed;
}

async function addStamp(files: Map<string, string>, path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined);
  // A link to a folder is not followed: it may lead into itself.
  if (facts?.isFile()) files.set(path, `${facts.mtimeMs}:${facts.size}:${facts.ino}`);
}
