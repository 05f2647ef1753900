import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** The replacement for the slow parts of the library. */
const scope = join(import.meta.dirname, 'test-scope.ts');

/** Far more than the bundling takes. */
const LIBRARY_MS = 60_000;

/**
 * Bundles the test library into one file in a folder, and returns its path. Hundreds of processes load it. Loading its
 * 260 separate files takes twice as long.
 * @param withinMs the time limit in milliseconds
 */
export async function writeTestLibrary(folder: string, withinMs = LIBRARY_MS): Promise<string> {
  const entry = import.meta.resolve('tap');
  // The library hides stack frames in a folder of this name.
  const file = join(folder, 'node_modules', '@tapjs', 'library.mjs');
  // The bundler's process does not keep this program alive. If the bundler dies, for example out of memory, this
  // program would end silently. The timer keeps it alive.
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
    // At run time, the library looks for files next to its installed entry.
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
