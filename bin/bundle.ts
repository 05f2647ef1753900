/**
 * Bundles the service into `dist/main.mjs`: `node bin/bundle.ts`. The image starts this file, because loading one file
 * takes less time and memory than loading a thousand. Threads, plugins and the console still start from the sources
 * beside it, so every path that a source makes from its own place stays what it is.
 */
import { readFile, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const outdir = join(root, 'dist');

/** A module that is required only when it is needed. Each becomes a file of its own, named by its folder. */
const REQUIRED = /require\('\.\/(\w+)\/index\.ts'\)/g;
const registry = join(root, 'src', 'chains', 'registry.ts');
const families = [...(await readFile(registry, 'utf8')).matchAll(REQUIRED)].map(([, family = '']) => family);

await rm(outdir, { recursive: true, force: true });
await build({
  entryPoints: [
    { in: join(root, 'src', 'main.ts'), out: 'main' },
    ...families.map((family) => ({ in: join(dirname(registry), family, 'index.ts'), out: family })),
  ],
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  minifySyntax: true,
  minifyWhitespace: true,
  // Names of errors are shown, and the stack of an internal one is logged.
  keepNames: true,
  // These start threads from files of their own, or are programs.
  external: ['esbuild', 'isolated-vm', 'pg-native', 'piscina', '*.node'],
  banner: {
    js: `import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);`,
  },
  plugins: [
    {
      name: 'places of the sources',
      setup({ onLoad }) {
        onLoad({ filter: new RegExp(`^${RegExp.escape(root)}/(src|sandbox)/.*\\.ts$`) }, async ({ path }) => {
          const source = JSON.stringify(`../${relative(root, path)}`);
          const folder = JSON.stringify(`/../${relative(root, dirname(path))}`);
          const contents = (await readFile(path, 'utf8'))
            .replaceAll('import.meta.dirname', `(import.meta.dirname+${folder})`)
            .replaceAll('import.meta.url', `new URL(${source},import.meta.url).href`)
            .replaceAll(REQUIRED, (_, family: string) => `require(import.meta.dirname+'/${family}.mjs')`);
          return { contents, loader: 'ts' };
        });
      },
    },
  ],
  logLevel: 'warning',
});
