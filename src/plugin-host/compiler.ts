import { readdir } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { RUNTIME_PART } from '../../sandbox/protocol.ts';
import { Bundler, BundlerLost } from './bundler.ts';
import { WITHOUT_WARNINGS } from './bundler-warnings.ts';
import { compileFailure } from './compile-failure.ts';
import { areUnchanged, type FilesRead } from './files-read.ts';
import { importWall } from './import-wall.ts';
import { ended, type HostFailure } from './outcome.ts';
import type { PluginFile } from './plugin-file.ts';
import { type SourcePositions, sourcePositions } from './source-positions.ts';

/** Makes bundles of plugins and of the guest runtime. */
export interface Compiler {
  /** A plugin's bundle, or why there is none. */
  compile(pluginId: string, source: PluginFile): Promise<Bundle | HostFailure>;
  /** The guest runtime: an expression that evaluates to the function `boot`. */
  runtime(): Promise<string>;
  /** Ends the bundler's own process; a later build would start it again. */
  close(): Promise<void>;
}

export interface Bundle {
  /** A script that leaves the module's exports on `__isolayer_plugin__`. */
  code: string;
  positions: SourcePositions;
  /** Absolute paths of the files that went into it. */
  inputs: ReadonlySet<string>;
}

export interface CompilerDeps {
  /** The plugins folder, without symbolic links. */
  root: string;
  sandboxDir: string;
  /** A build that takes longer ends. */
  timeoutMs?: number;
}

const BUNDLE_BYTES = 10 * 1_048_576;
const COMPILE_MS = 30_000;

/** Bundles for a bare V8 isolate: standard JavaScript, no Node, packages by their browser variants. */
const FOR_THE_GUEST: BuildOptions = {
  bundle: true,
  write: false,
  format: 'iife',
  // Only for this platform does esbuild follow a package's `browser` map, by which ethers and others do without Node.
  platform: 'browser',
  // What a plugin is granted of its environment decides at run time, not what esbuild would put there.
  define: { 'process.env.NODE_ENV': 'process.env.NODE_ENV' },
  mainFields: ['browser', 'module', 'main'],
  conditions: ['browser', 'worker', 'import', 'default'],
  target: 'es2024',
  charset: 'utf8',
  logLevel: 'silent',
  logOverride: WITHOUT_WARNINGS,
  // The authors' tsconfig serves their editors; paths and plugins in it must not redirect imports.
  tsconfigRaw: {},
};

/** esbuild, told where plugins may import from. */
export function createCompiler({ root, sandboxDir, timeoutMs = COMPILE_MS }: CompilerDeps): Compiler {
  const places = { root, modulesDir: join(sandboxDir, 'guest', 'modules') };
  const outfile = join(root, 'bundle.js');
  const bundler = new Bundler(timeoutMs);
  /** By plugin: what ended the bundler's process is not tried again as long as its files are the same. */
  const harmful = new Map<string, { read: FilesRead; failure: HostFailure }>();

  return {
    async compile(pluginId, { file, label }) {
      const known = harmful.get(pluginId);
      if (known?.read.has(file) === true && (await areUnchanged(known.read))) return known.failure;
      harmful.delete(pluginId);
      const read: FilesRead = new Map();
      try {
        const { outputFiles, metafile } = await bundler.build({
          ...FOR_THE_GUEST,
          absWorkingDir: root,
          entryPoints: [file],
          outfile,
          globalName: '__isolayer_plugin__',
          sourcemap: 'external',
          sourcesContent: false,
          metafile: true,
          plugins: [importWall(places, read)],
        });
        const code = outputFiles?.find(({ path }) => path === outfile)?.text ?? '';
        const map = outputFiles?.find(({ path }) => path === `${outfile}.map`)?.text ?? '{}';
        const bytes = Buffer.byteLength(code);
        if (bytes > BUNDLE_BYTES) return tooLarge(pluginId, label, bytes);
        const inputs = new Set(Object.keys(metafile?.inputs ?? {}).map((input) => resolve(root, input)));
        return { code, positions: sourcePositions(label, map, 'plugins'), inputs };
      } catch (error) {
        if (!(error instanceof BundlerLost)) return compileFailure(pluginId, error);
        const failure = lost(pluginId, label, error.isLate ? timeoutMs : undefined);
        if (read.size > 0) harmful.set(pluginId, { read, failure });
        return failure;
      }
    },

    async runtime() {
      const guest = join(sandboxDir, 'guest');
      const names = (await readdir(join(guest, 'parts'))).filter((file) => file.endsWith('.ts'));
      const [runtime, ...parts] = await Promise.all([
        expression(bundler, join(guest, 'boot.ts'), 'boot'),
        // Streams would give a buffer away by a clone that the guest's world cannot make.
        ...names.map((file) =>
          expression(bundler, join(guest, 'parts', file), 'part', { structuredClone: 'undefined' }),
        ),
      ]);
      return [runtime, ...parts.map((text, index) => `${RUNTIME_PART}${parse(names[index] ?? '').name}\n${text}`)].join(
        '',
      );
    },

    close: () => bundler.close(),
  };
}

/** A file of the guest runtime as an expression that evaluates to one of its exports. */
async function expression(bundler: Bundler, file: string, name: string, define = {}): Promise<string> {
  const { outputFiles } = await bundler.build({
    ...FOR_THE_GUEST,
    write: false,
    define,
    entryPoints: [file],
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    // Strict from its first word, so that no function of the runtime can be asked for its caller.
    banner: { js: '(function () { "use strict"; const module = { exports: {} }, exports = module.exports;' },
    footer: { js: `return module.exports.${name}; })()` },
  });
  return outputFiles?.[0]?.text ?? '';
}

function tooLarge(pluginId: string, label: string, bytes: number): HostFailure {
  return {
    code: 'SIZE_LIMIT',
    message: `The bundle of ${label} has ${bytes} bytes, more than ${BUNDLE_BYTES}`,
    status: 500,
    details: { pluginId, file: label },
  };
}

function lost(pluginId: string, label: string, timeoutMs: number | undefined): HostFailure {
  const why =
    timeoutMs === undefined
      ? 'Compilation failed: the bundler broke down over it, as over code that is nested too deeply'
      : `Compilation timed out after ${timeoutMs}ms`;
  const message = `${why}; ${label} is compiled again when a file that it is made of changes`;
  return { ...ended('COMPILE_ERROR', message), details: { pluginId, file: label } };
}
