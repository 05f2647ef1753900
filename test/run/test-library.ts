import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** The replacement for the slow parts of the library. */
const SCOPE = join(import.meta.dirname, 'test-scope.ts');

/**
 * Bundles the test library into one file in a folder, and returns its path. Loading its 260 separate files takes twice
 * as long.
 */
export async function writeTestLibrary(folder: string): Promise<string> {
  const entry = import.meta.resolve('tap');
  // The library hides stack frames in a folder of this name.
  const file = join(folder, 'node_modules', '@tapjs', 'library.mjs');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    alias: { 'async-hook-domain': SCOPE, async_hooks: SCOPE },
    // At run time, the library looks for files next to its installed entry.
    define: { 'import.meta.url': JSON.stringify(entry) },
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(${JSON.stringify(entry)});`,
    },
  });
  await stop();
  const half = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(half, outputFiles[0]?.contents ?? '');
  // Another run may be loading it.
  renameSync(half, file);
  return file;
}
