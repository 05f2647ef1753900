import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '../architecture/rule.ts';

/** The folders that hold the project's own TypeScript. */
export const sourceFolders = ['src', 'console', 'sandbox', 'plugins', 'examples/demo', 'test'] as const;

/** Those that come with the service. The others in their folder are an operator's, whose form and types are not ours to judge. */
const SHIPPED_PLUGINS: ReadonlySet<string> = new Set(['plugins/hello.ts']);

/** Made by `npm run client`, and written nowhere else: it has no form to check. A test holds it to the API's description. */
const GENERATED: ReadonlySet<string> = new Set(['src/client/api.ts']);

/** Lists the project's files below some folders, by a pattern; what is installed, what tools leave, and others' plugins are not ours. */
export function listFiles(root: string, folders: readonly string[], pattern = '**/*.ts'): string[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/${pattern}`, { cwd: root, exclude: ['**/node_modules/**', '**/.tap/**'] }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('plugins/') || SHIPPED_PLUGINS.has(path))
    .sort();
}

/** The same without what a command has made. */
export function listWritten(root: string, folders: readonly string[], pattern?: string): string[] {
  return listFiles(root, folders, pattern).filter((path) => !GENERATED.has(path));
}

/** Reads the files that the architecture rules look at. */
export function readFiles(root: string, paths: readonly string[]): SourceFile[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}
