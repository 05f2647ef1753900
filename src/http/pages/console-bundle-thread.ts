/**
 * The entry of the thread that bundles the console. The bundler is a process of its own, which ends with the thread:
 * one that stays would be the service's to look after.
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
  // Not that of the folder: an image has only what runs.
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
