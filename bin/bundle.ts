/**
 * Bundles the service into a few scripts in `dist`, and each of its threads, because loading one file takes less time and
 * memory than loading a thousand. Starts it once, without relayers or plugins, to keep what V8 compiles.
 * `bin/launch.mjs` starts it. Plugins and the console still start from the sources beside it, so every path that a
 * source makes from its own place stays what it is.
 *
 * `node bin/bundle.ts` notes the files that it was made from; a start after one of them was edited does not take it.
 * `node bin/bundle.ts <user id>` is for the image, where nothing is edited, and starts it as that user.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
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

const began = Date.now();
const placesOfSources: Plugin = {
  name: 'places of the sources',
  setup({ onLoad }) {
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
          return thread === undefined ? text : `(__dirname+"/${thread}.mjs")`;
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
  metafile: true,
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
  if (!scripts[0]?.text.includes(`/${thread}.mjs"`)) throw new Error(`no source starts ${THREADS[thread]}`);
// Named by all its text, so that the parts of two bundles are never taken for one.
const hash = createHash('sha256');
for (const { text } of scripts) hash.update(text);
for (const { contents } of threads.outputFiles) hash.update(contents);
const name = hash.digest('hex').slice(0, 16);
const folder = join(outdir, name);
const inputs = [...scripts, { inputs: Object.keys(threads.metafile.inputs) }].flatMap((part) => part.inputs);
const description = {
  name,
  packages: Object.fromEntries(Object.entries(PACKAGES).map(([script, id]) => [id, script])),
  sources: Object.fromEntries(scripts.map((one) => [one.name, one.sources])),
  inputs: uid === undefined ? inputsOf(inputs) : null,
};
// A service that runs since before may still start threads of its own bundle.
const before = await readFile(join(outdir, 'bundle.json'), 'utf8').then(
  (text) => (JSON.parse(text) as { name: string }).name,
  () => undefined,
);
// Put into place whole, because two services may make the same bundle while a third one starts from it.
const making = `${folder}.${process.pid}`;
await mkdir(making, { recursive: true });
for (const { name, text, lines } of scripts) {
  await writeFile(join(making, `${name}.cjs`), text);
  await writeFile(join(making, `${name}.lines`), lines);
}
for (const { path, contents } of threads.outputFiles) await writeFile(join(making, basename(path)), contents);
await rename(making, folder).catch(() => rm(making, { recursive: true }));
await writeFile(`${making}.json`, JSON.stringify(description));
await rename(`${making}.json`, join(outdir, 'bundle.json'));
await keepCompiled();
for (const other of await readdir(outdir))
  if (!['bundle.json', before].includes(other) && !other.startsWith(name))
    await rm(join(outdir, other), { recursive: true });

/** A script of the bundle: a function that gets `module`, `require`, and its place. */
function scriptOf(name: string, { outputFiles, metafile }: Awaited<ReturnType<typeof build<typeof script>>>) {
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const { sources, mappings } = JSON.parse(textOf('.map')) as { sources: string[]; mappings: string };
  return {
    name,
    text: `(function (module, require, __filename, __dirname) {\n${textOf('.cjs')}\n})`,
    lines: linesOf(mappings),
    sources: sources.map((path) => relative(root, resolve(outdir, path))),
    inputs: Object.keys(metafile.inputs).filter((path) => path !== '<stdin>'),
  };
}

/** What `bin/launch.mjs` compares: each file that decides what is in the bundle, when it was changed, and its size. */
function inputsOf(bundled: readonly string[]): [string, number, number, number][] {
  const packages = bundled.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(path)?.[0]);
  const paths = new Set([
    ...bundled,
    ...packages.filter((folder) => folder !== undefined).map((folder) => `${folder}package.json`),
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'bin/bundle.ts', 'bin/launch.mjs'],
    'node_modules/esbuild/package.json',
  ]);
  return [...paths].flatMap((path): [string, number, number, number][] => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined) return [];
    const { mtimeMs, size } = stats;
    const changedMs = (path.includes('node_modules/') && stats.birthtimeMs) || stats.ctimeMs;
    // The clock of files may be some milliseconds behind.
    if (Math.max(mtimeMs, changedMs) >= began - 100) throw new Error(`${path} was edited while the bundle was made`);
    return [[path, mtimeMs, changedMs, size]];
  });
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

/** Starts the bundle once. Without what it keeps, the service starts all the same, so a failure only warns. */
async function keepCompiled(): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  // V8 takes what was compiled only under the same options.
  const options = scripts.start.split(' ').filter((word) => word.startsWith('--'));
  const home = await mkdtemp(join(tmpdir(), 'isolayer-bundle-'));
  const { NODE_COMPILE_CACHE, PATH = '' } = process.env;
  const cache = NODE_COMPILE_CACHE === undefined ? [] : [resolve(NODE_COMPILE_CACHE)];
  try {
    await writeFile(join(home, 'config.json'), '{ "relayers": [], "signers": [], "notifications": [], "plugins": [] }');
    for (const one of [home, folder, ...cache]) {
      await mkdir(one, { recursive: true });
      if (uid !== undefined) await chown(one, uid, uid);
    }
    const service = spawn(process.execPath, [...options, join(root, 'bin', 'launch.mjs')], {
      cwd: home,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid, gid: uid }),
      env: {
        PATH,
        ...(cache[0] !== undefined && { NODE_COMPILE_CACHE: cache[0] }),
        ISOLAYER_KEEP_COMPILED: '1',
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
    const ended = once(service, 'exit');
    for await (const line of createInterface({ input: service.stdout })) {
      // It ends with its input, and so also when this process is killed.
      if (line.includes('"msg":"ready"')) service.stdin.end();
    }
    const [code] = await ended;
    if (code !== 0) process.stderr.write(`The bundle was not started, so nothing compiled is kept: ${code}\n${said}`);
    // The service must not be able to change what it runs.
    if (uid !== undefined)
      for (const one of [folder, ...(await readdir(folder))]) await chown(resolve(folder, one), 0, 0);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
