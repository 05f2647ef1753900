/**
 * Bundles the service into `dist/service.cjs`: `node bin/bundle.ts [user id]`. The image starts this file by
 * `bin/launch.mjs`, because loading one file takes less time and memory than loading a thousand. Then starts it once, as
 * that user and without relayers or plugins, to keep what V8 compiles. Threads, plugins and the console still start from
 * the sources beside it, so every path that a source makes from its own place stays what it is.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const outdir = join(root, 'dist');

await rm(outdir, { recursive: true, force: true });
await build({
  entryPoints: [join(root, 'src', 'main.ts')],
  outfile: join(outdir, 'service.cjs'),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node26',
  charset: 'ascii',
  minifySyntax: true,
  minifyWhitespace: true,
  // Names of errors are shown, and the stack of an internal one is logged.
  keepNames: true,
  // These start threads from files of their own, are programs or machine code, or are large and seldom needed.
  external: [
    '@aws-sdk/client-kms',
    'esbuild',
    'isolated-vm',
    'pg-native',
    'piscina',
    'secp256k1',
    'tiny-secp256k1',
    '*.node',
  ],
  plugins: [
    {
      name: 'places of the sources',
      setup({ onLoad }) {
        onLoad({ filter: new RegExp(`^${RegExp.escape(root)}/(src|sandbox)/.*\\.ts$`) }, async ({ path }) => {
          const source = JSON.stringify(`/../${relative(root, path)}`);
          const folder = JSON.stringify(`/../${relative(root, dirname(path))}`);
          const contents = (await readFile(path, 'utf8'))
            // What is required is in the bundle too. It runs when it is needed.
            .replaceAll('const require = createRequire(import.meta.url);', '')
            .replaceAll('import.meta.dirname', `(__dirname+${folder})`)
            .replaceAll('import.meta.url', `require('node:url').pathToFileURL(__dirname+${source}).href`);
          return { contents, loader: 'ts' };
        });
      },
    },
  ],
  logLevel: 'warning',
});
await keepCompiled(process.argv[2] === undefined ? undefined : Number(process.argv[2]));

/** Starts the bundle once. Without what it keeps, the service starts all the same, so a failure only warns. */
async function keepCompiled(uid: number | undefined): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  // V8 takes what was compiled only under the same options.
  const options = scripts.start.split(' ').filter((word) => word.startsWith('--'));
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-bundle-'));
  const { NODE_COMPILE_CACHE: cache, PATH = '' } = process.env;
  try {
    await writeFile(
      join(folder, 'config.json'),
      '{ "relayers": [], "signers": [], "notifications": [], "plugins": [] }',
    );
    const folders = [folder, outdir, ...(cache === undefined ? [] : [cache])];
    for (const one of folders) {
      await mkdir(one, { recursive: true });
      if (uid !== undefined) await chown(one, uid, uid);
    }
    const service = spawn(process.execPath, [...options, join(root, 'bin', 'launch.mjs')], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(uid !== undefined && { uid, gid: uid }),
      env: {
        PATH,
        ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }),
        ISOLAYER_KEEP_COMPILED: '1',
        HOST: '127.0.0.1',
        APP_PORT: '0',
        METRICS_PORT: '0',
        CONFIG_DIR: folder,
        DATA_DIR: join(folder, 'data'),
        PLUGINS_DIR: folder,
      },
    });
    const ended = once(service, 'exit');
    for await (const line of createInterface({ input: service.stdout })) {
      if (line.includes('"msg":"ready"')) service.kill('SIGTERM');
    }
    const [code] = await ended;
    if (code !== 0) process.stderr.write(`The bundle was not started, so nothing compiled is kept: ${code}\n`);
    // The service must not be able to change what it runs.
    if (uid !== undefined)
      for (const one of [outdir, ...(await readdir(outdir))]) await chown(resolve(outdir, one), 0, 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
