import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/**
 * Writes the test library as one file into a folder and returns its path. Hundreds of processes load it: from its own
 * two hundred and sixty files that takes twice as long as from one.
 */
export async function writeTestLibrary(folder: string): Promise<string> {
  const entry = import.meta.resolve('tap');
  // The library leaves out of a place in the code what lies in a folder of this name.
  const file = join(folder, 'node_modules', '@tapjs', 'library.mjs');
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // What it looks for at run time lies where it was installed.
    define: { 'import.meta.url': JSON.stringify(entry) },
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(${JSON.stringify(entry)});`,
    },
  });
  await stop();
  return file;
}
