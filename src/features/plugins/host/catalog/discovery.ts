import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginIdSchema } from '../../../../domain/id.ts';
import { type PluginEntry, undeclaredPluginEntry } from '../../records/plugin.ts';
import { entryPath, packageMain } from './plugin-file.ts';

/** The `package.json` of a folder. When the folder has no index file, the package's `main` may be a plugin. */
const PACKAGE = /^([^/]+)\/package\.json$/;

/** The forms of a dropped-in plugin's path, best first. When two files share an id, the better form is the plugin. */
const FORMS = [/^([^/]+)\.ts$/, /^([^/]+)\.js$/, /^([^/]+)\.mjs$/, /^([^/]+)\/index\.ts$/, /^([^/]+)\/index\.js$/];

/**
 * Files that are never plugins: declarations, tests, settings of tools (`jest.config.js`), packages, and names that
 * begin with `_` or `.`.
 */
const NEVER = /^[_.]|^tests\/|(^|\/)node_modules\/|\.d\.[cm]?ts$|\.(?:test|spec)\.[^/]*$|\.config\.[cm]?[jt]s$/;

export interface DiscoveredPlugins {
  entries: PluginEntry[];
  /** Files that look like plugins but are none, each with its reason. */
  ignored: { file: string; reason: string }[];
}

/**
 * All plugins, sorted by id: the declared ones and those that were dropped into the folder. A file that an entry names
 * is not found again under its own name.
 * @param files absolute paths
 * @param mains the main files that packages among `files` name, see {@link findPackageMains}
 */
export function discoverPlugins(
  root: string,
  files: Iterable<string>,
  declared: readonly PluginEntry[],
  mains: ReadonlyMap<string, string> = new Map(),
): DiscoveredPlugins {
  const named = new Set(declared.map(({ path }) => join(root, entryPath(path))));
  const byId = new Map(declared.map((entry) => [entry.id, entry]));
  const ignored: DiscoveredPlugins['ignored'] = [];

  const found = [...files]
    .map((file) => ({ file, path: below(root, file) }))
    .filter(({ path }) => !NEVER.test(path))
    .flatMap(({ file, path }) => {
      const form = FORMS.findIndex((pattern) => pattern.test(path));
      const id = FORMS[form]?.exec(path)?.[1];
      if (id !== undefined) return [{ file, path, form, id }];
      const main = mains.get(path);
      return main === undefined ? [] : [{ file: join(root, main), path: main, form: FORMS.length, id: folderOf(path) }];
    })
    .sort((a, b) => a.form - b.form || (a.path < b.path ? -1 : 1));

  for (const { file, path, id } of found) {
    if (named.has(file) || (path.includes('/') && named.has(join(root, id)))) continue;
    const other = byId.get(id);
    if (other !== undefined) {
      ignored.push({ file: path, reason: `plugin ${id} is ${other.path}` });
    } else if (!pluginIdSchema.safeParse(id).success) {
      ignored.push({ file: path, reason: `${JSON.stringify(id)} cannot be a plugin's id` });
    } else byId.set(id, undeclaredPluginEntry(id, path));
  }
  return { entries: [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), ignored };
}

/**
 * Finds the main files of plugin folders that have no index file but a `package.json`. The key is the path of the
 * `package.json`, the value the path of its main file.
 */
export async function findPackageMains(root: string, files: Iterable<string>): Promise<Map<string, string>> {
  const paths = new Set([...files].map((file) => below(root, file)));
  const mains = new Map<string, string>();
  for (const path of paths) {
    const folder = folderOf(path);
    if (!PACKAGE.test(path) || paths.has(`${folder}/index.ts`) || paths.has(`${folder}/index.js`)) continue;
    const main = await packageMain(join(root, folder));
    if (main !== undefined) mains.set(path, `${folder}/${main}`);
  }
  return mains;
}

function below(root: string, file: string): string {
  return relative(root, file).split(sep).join('/');
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.indexOf('/'), 0));
}

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
