import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** What takes the place of those parts of the library that are slow. */
const scope = join(import.meta.dirname, 'test-scope.ts');

/** Many times what it takes. */
const LIBRARY_MS = 60_000;

/**
 * Writes the test library as one file into a folder and returns its path. Hundreds of processes load it: from its own
 * two hundred and sixty files that takes twice as long as from one.
 * @param withinMs how long it may take
 */
export async function writeTestLibrary(folder: string, withinMs = LIBRARY_MS): Promise<string> {
  const entry = import.meta.resolve('tap');
  // The library leaves out of a place in the code what lies in a folder of this name.
  const file = join(folder, 'node_modules', '@tapjs', 'library.mjs');
  // The process of the bundler keeps nobody waiting for what it says: where it ends, or is ended for want of memory, a
  // program that has nothing else to do would end as well, without a word.
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it took more than ${withinMs} ms`)), withinMs);
  const built = build({
    entryPoints: [fileURLToPath(entry)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    alias: { 'async-hook-domain': scope, async_hooks: scope },
    // What it looks for at run time lies where it was installed.
    define: { 'import.meta.url': JSON.stringify(entry) },
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(${JSON.stringify(entry)});`,
    },
  });
  try {
    await Promise.race([built, late.promise]);
  } catch (error) {
    throw new Error('The test library could not be bundled', { cause: error });
  } finally {
    clearTimeout(timer);
    await stop();
  }
  return file;
}
