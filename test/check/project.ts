import { globSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Where the repository's tools are installed. */
export const toolFolder = join(root, 'node_modules', '.bin');

/** The folders that hold the project's own TypeScript. */
export const sourceFolders = ['src', 'console', 'sandbox', 'plugins', 'examples/demo', 'test'] as const;

/** The other files in `plugins` are an operator's, whose form and types are not ours to judge. */
const SHIPPED_PLUGINS: ReadonlySet<string> = new Set(['plugins/hello.ts']);

/** Lists the project's files below some folders. Leaves out what is installed, what tools write, and others' plugins. */
export function listFiles(root: string, folders: readonly string[], pattern = '**/*.ts'): string[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/${pattern}`, { cwd: root, exclude: ['**/node_modules/**', '**/.tap/**'] }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('plugins/') || SHIPPED_PLUGINS.has(path))
    .sort();
}

const FOREIGN = /^(?:_?TAP.*|NODE_OPTIONS|CI|GITHUB_ACTIONS|FORCE_COLOR|CLICOLOR_FORCE)$/;

/**
 * The environment in which every tool, and whatever it starts, finds the Node of the lockfile first. It has nothing
 * that a test runner sets for its own children, and nothing that makes tools print differently on a build server.
 */
export function toolEnvironment(): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name))),
    PATH: [toolFolder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    NO_COLOR: '1',
  };
}

/** Works on all items, so many at a time, and yields each result in the order of the items. */
export async function* sideBySide<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const outcomes = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
  // A result that nobody has asked for yet may already be an error; asking is what reports it.
  for (const { promise } of outcomes) promise.catch(() => {});
  const waiting = outcomes.values();
  const worker = async () => {
    for (const { item, resolve, reject } of waiting) await work(item).then(resolve, reject);
  };
  const workers = Array.from({ length: width }, worker);
  for (const { promise } of outcomes) yield await promise;
  await Promise.all(workers);
}
