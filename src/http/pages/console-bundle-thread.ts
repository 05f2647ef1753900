/**
 * The entry of the thread that bundles the console. The bundler runs as a process that ends with this thread. If it
 * stayed, the service would have to manage it.
 */
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..', '..');
const { outputFiles } = await build({
  entryPoints: [join(root, 'console', 'main.tsx')],
  outdir: join(root, 'console'),
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: 'es2023',
  // Uses no tsconfig file: a container image has none.
  tsconfigRaw: {},
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'silent',
});
const compressed = (ending: string) => {
  const file = outputFiles.find(({ path }) => path.endsWith(ending));
  if (file === undefined) throw new Error(`The bundle of the console has no ${ending}`);
  return gzipSync(file.contents, { level: constants.Z_BEST_COMPRESSION });
};
parentPort?.postMessage({ script: compressed('.js'), style: compressed('.css') });
