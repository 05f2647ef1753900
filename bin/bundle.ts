/**
 * Bundles the service into a few scripts in `dist`, and each of its threads, because loading one file takes less time and
 * memory than loading a thousand. Starts it once, without relayers or plugins, to keep what V8 compiles. Only then is it
 * put into place, by `bundle.json`, from which `bin/launch.mjs` starts it. Plugins and the console still start from the
 * sources beside it, so every path that a source makes from its own place stays what it is.
 *
 * `npm run build` notes the files that it was made from; a start after one of them was edited does not take it.
 * `node bin/bundle.ts <user id>` is for the image, where nothing is edited, and starts it as that user.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { crc32 } from 'node:zlib';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const outdir = join(root, 'dist');
const uid = process.argv[2] === undefined ? undefined : Number(process.argv[2]);

/** The threads of a running service. A thread that runs sources has the compiler of TypeScript in its memory. */
const THREADS: Readonly<Record<string, string>> = {
  keys: 'src/signers/keys/thread-main.ts',
  checkpoints: 'src/store/sqlite/checkpoint-thread.ts',
  driver: 'sandbox/driver/driver.ts',
};

/** Packages in scripts of their own, so that what V8 compiled of them is read only where their family is used. */
const PACKAGES: Readonly<Record<string, string>> = {
  solana: '@solana/web3.js',
  stellar: '@stellar/stellar-sdk/base',
};

/** How long a bundle stays after another one was put into its place: a service may run that starts threads of it. */
const STAYS_MS = 7 * 86_400_000;

/** Each file that decides what is in the bundle, with its times and size from before it was read. */
const inputs = new Map<string, readonly [mtimeMs: number, changedMs: number, size: number]>();
for (const path of ['package.json', 'package-lock.json', 'tsconfig.json', 'bin/bundle.ts', 'bin/launch.mjs'])
  noteInput(path);
noteInput('node_modules/esbuild/package.json');

const placesOfSources: Plugin = {
  name: 'places of the sources',
  setup({ onLoad }) {
    onLoad({ filter: /./ }, ({ path }) => {
      const file = relative(root, path);
      noteInput(file);
      const ofPackage = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0];
      if (ofPackage !== undefined) noteInput(`${ofPackage}package.json`);
      return undefined;
    });
    onLoad({ filter: new RegExp(`^${RegExp.escape(root)}/(src|sandbox)/.*\\.ts$`) }, async ({ path }) => {
      const place = (file: string) => `(__dirname+${JSON.stringify(`/../../${relative(root, file)}`)})`;
      const contents = (await readFile(path, 'utf8'))
        // Takes what is used of zod, without its languages.
        .replaceAll("import { z } from 'zod';", "import * as z from 'zod';")
        // What is required is in the bundle too. It runs when it is needed.
        .replaceAll('const require = createRequire(import.meta.url);', '')
        .replaceAll(/join\(import\.meta\.dirname, '([^()]*)'\)/g, (text, parts: string) => {
          const file = relative(root, join(dirname(path), ...parts.split("', '")));
          const thread = Object.keys(THREADS).find((name) => THREADS[name] === file);
          return thread === undefined ? text : `require.threadFile("${thread}.mjs",${place(join(root, file))})`;
        })
        .replaceAll('import.meta.dirname', place(dirname(path)))
        .replaceAll('import.meta.url', `require('node:url').pathToFileURL(${place(path)}).href`);
      return { contents, loader: 'ts' };
    });
  },
};
const common = {
  absWorkingDir: root,
  write: false,
  bundle: true,
  platform: 'node',
  target: 'node26',
  charset: 'ascii',
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
  plugins: [placesOfSources],
  logLevel: 'warning',
} satisfies BuildOptions;
const script = {
  ...common,
  outfile: join(outdir, 'script.cjs'),
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line of an error that ends the process.
  lineLimit: 200,
  sourcemap: 'external',
  sourcesContent: false,
} satisfies BuildOptions;
const scripts = [
  scriptOf(
    'service',
    await build({
      ...script,
      entryPoints: [join(root, 'src', 'main.ts')],
      external: [...common.external, ...Object.values(PACKAGES)],
    }),
  ),
];
for (const [name, id] of Object.entries(PACKAGES))
  scripts.push(
    scriptOf(name, await build({ ...script, stdin: { contents: `export * from '${id}';`, resolveDir: root } })),
  );
const threads = await build({
  ...common,
  entryPoints: Object.entries(THREADS).map(([out, path]) => ({ in: join(root, path), out })),
  outdir,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url), __dirname = import.meta.dirname;",
  },
});
for (const thread of Object.keys(THREADS))
  if (!scripts[0]?.text.includes(`("${thread}.mjs",`)) throw new Error(`no source starts ${THREADS[thread]}`);
for (const [path, noted] of inputs)
  if (String(timesOf(path)) !== String(noted)) throw new Error(`${path} was edited while the bundle was made`);

const files = new Map<string, string | Uint8Array>();
for (const { name, text, lines } of scripts)
  files.set(`${name}.cjs`, text).set(`${name}.lines`, new Uint8Array(lines.buffer));
for (const { path, contents } of threads.outputFiles) files.set(basename(path), contents);
// No two bundles share a folder, so their parts are never mixed.
const name = String(Date.now());
const folder = join(outdir, name);
const parts: Record<string, [size: number, sum: number]> = {};
for (const [file, contents] of files) parts[file] = [Buffer.byteLength(contents), crc32(contents)];
const description = {
  name,
  packages: Object.fromEntries(Object.entries(PACKAGES).map(([script, id]) => [id, script])),
  sources: Object.fromEntries(scripts.map((one) => [one.name, one.sources])),
  parts,
};

await mkdir(outdir, { recursive: true });
// A folder with a description in it was never put into place: its bundler was ended.
for (const other of await readdir(outdir))
  if (existsSync(join(outdir, other, 'bundle.json'))) await rm(join(outdir, other), { recursive: true, maxRetries: 5 });
await mkdir(folder);
try {
  await write('bundle.json', JSON.stringify(description));
  for (const [file, contents] of files) await write(file, contents);
  await startOnce();
  for (const { name } of scripts) {
    const compiled = await readFile(join(folder, `${name}.compiled`));
    parts[`${name}.compiled`] = [compiled.length, crc32(compiled)];
  }
  // What the start compares. In the image nothing is edited.
  const noted = uid === undefined ? [...inputs].map(([path, times]) => [path, ...times]) : null;
  await write('bundle.json', JSON.stringify({ ...description, inputs: noted }));
} catch (error) {
  await rm(folder, { recursive: true, force: true });
  throw error;
}
const before = await readFile(join(outdir, 'bundle.json'), 'utf8')
  .then((text) => (JSON.parse(text) as { name: string }).name)
  .catch(() => undefined);
await rename(join(folder, 'bundle.json'), join(outdir, 'bundle.json'));
const now = new Date();
if (before !== undefined) await utimes(join(outdir, before), now, now).catch(() => undefined);
for (const other of (await readdir(outdir)).filter((one) => one !== 'bundle.json' && one !== name)) {
  const { mtimeMs } = await stat(join(outdir, other));
  if (mtimeMs < now.getTime() - STAYS_MS) await rm(join(outdir, other), { recursive: true, force: true });
}

/** Writes a file of the bundle to the disk itself. */
function write(file: string, contents: string | Uint8Array): Promise<void> {
  return writeFile(join(folder, file), contents, { flush: true });
}

/** A script of the bundle: a function that gets `module`, `require`, and its place. */
function scriptOf(name: string, { outputFiles }: Awaited<ReturnType<typeof build<typeof script>>>) {
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const { sources, mappings } = JSON.parse(textOf('.map')) as { sources: string[]; mappings: string };
  return {
    name,
    text: `(function (module, require, __filename, __dirname) {\n${textOf('.cjs')}\n})`,
    lines: linesOf(mappings),
    sources: sources.map((path) => relative(root, resolve(outdir, path))),
  };
}

function noteInput(path: string): void {
  const times = inputs.get(path) ?? timesOf(path);
  if (times !== undefined) inputs.set(path, times);
}

/** What `bin/launch.mjs` compares. */
function timesOf(path: string): [mtimeMs: number, changedMs: number, size: number] | undefined {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  return stats && [stats.mtimeMs, (path.includes('node_modules/') && stats.birthtimeMs) || stats.ctimeMs, stats.size];
}

/** The places where another line of a source begins: line and column of the bundle, source and its line, 16 bytes each. */
function linesOf(mappings: string): Uint32Array {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const found: number[] = [];
  let [source, sourceLine] = [0, 0];
  for (const [line, segments] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const fields: number[] = [];
      let [value, shift] = [0, 0];
      for (const letter of segment) {
        const digit = digits.indexOf(letter);
        value |= (digit & 31) << shift;
        shift += 5;
        if (digit > 31) continue;
        fields.push(value & 1 ? -(value >> 1) : value >> 1);
        [value, shift] = [0, 0];
      }
      const [columns = 0, sources = 0, sourceLines = 0] = fields;
      column += columns;
      source += sources;
      sourceLine += sourceLines;
      if (found.at(-1) === sourceLine + 1 && found.at(-2) === source) continue;
      // The first line of the script is the one that is put before the bundle.
      found.push(line + 2, column + 1, source, sourceLine + 1);
    }
  }
  return Uint32Array.from(found);
}

/** Starts the bundle once, and ends it in good order, which keeps what V8 compiled. */
async function startOnce(): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  // V8 takes what was compiled only under the same options.
  const options = scripts.start.split(' ').filter((word) => word.startsWith('--'));
  const home = join(folder, 'home');
  const { NODE_COMPILE_CACHE, PATH = '' } = process.env;
  const cache = NODE_COMPILE_CACHE === undefined ? [] : [resolve(NODE_COMPILE_CACHE)];
  for (const one of [home, folder, ...cache]) {
    await mkdir(one, { recursive: true });
    if (uid !== undefined) await chown(one, uid, uid);
  }
  await write('home/config.json', '{ "relayers": [], "signers": [], "notifications": [], "plugins": [] }');
  const service = spawn(process.execPath, [...options, join(root, 'bin', 'launch.mjs')], {
    cwd: home,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
    env: {
      PATH,
      ...(cache[0] !== undefined && { NODE_COMPILE_CACHE: cache[0] }),
      ISOLAYER_TRIED_BUNDLE: name,
      HOST: '127.0.0.1',
      APP_PORT: '0',
      METRICS_PORT: '0',
      CONFIG_DIR: home,
      DATA_DIR: join(home, 'data'),
      PLUGINS_DIR: home,
    },
  });
  let said = '';
  service.stderr.on('data', (chunk: Buffer) => {
    said += String(chunk);
  });
  let isReady = false;
  const ended = once(service, 'exit');
  for await (const line of createInterface({ input: service.stdout })) {
    if (!line.includes('"msg":"ready"')) continue;
    isReady = true;
    // It ends with its input, and so also when this process is killed.
    service.stdin.end();
  }
  const [code] = await ended;
  if (!isReady || code !== 0) throw new Error(`The bundle does not start (${code}), so it is not used.\n${said}`);
  await rm(home, { recursive: true });
  // The service must not be able to change what it runs.
  if (uid !== undefined)
    for (const one of [folder, ...(await readdir(folder))]) await chown(resolve(folder, one), 0, 0);
}
