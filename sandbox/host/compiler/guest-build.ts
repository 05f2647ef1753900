import { join, resolve } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { NAMESPACES } from '../../language-names.ts';
import {
  type BuildJob,
  type BuildResult,
  MAP_BYTES,
  MAX_BUNDLE_BYTES,
  type PluginJob,
  type RuntimeJob,
} from './build-job.ts';
import { buildProblems, isBuildFailure } from './build-problems.ts';
import { CHILD_BUILD } from './child-program.ts';
import { GUEST_SYNTAX } from './guest-syntax.ts';
import { type ImportHooks, importWall } from './import-wall.ts';
import { providedModuleExpression, runtimePartImports } from './provided-modules.ts';

const CONTEXTS = 'async_hooks';

type OnRead = (file: string, state: string) => void;

/** Bundles for a bare V8 isolate: no Node, packages by their browser variants. */
const FOR_THE_GUEST: BuildOptions = {
  ...GUEST_SYNTAX,
  bundle: true,
  write: false,
  // esbuild follows a package's `browser` map only for this platform. By that map ethers and others work without Node.
  platform: 'browser',
  // Keeps the expression: the environment that the plugin is granted decides at run time, not a value of esbuild.
  define: { 'process.env.NODE_ENV': 'process.env.NODE_ENV' },
  // The bundler adds "import" for imports and "require" for calls of require, as Node does. No main fields are named.
  // So it takes "main" for such a call, and "module" only where nothing in the bundle makes one.
  conditions: ['browser', 'worker'],
};

const NOTHING = new Uint8Array();

/**
 * For a bundle with `AsyncLocalStorage`: makes esbuild write `await` as generators. An `await` calls no function that
 * could keep a context, but the promises of a generator do. The footer loads the module before the world is sealed,
 * because the module changes what promises do.
 */
const KEEPS_CONTEXTS: BuildOptions = {
  supported: { 'async-await': false, 'async-generator': false, 'for-await': false },
  footer: { js: `${providedModuleExpression(CONTEXTS)};` },
};

/**
 * Builds with esbuild, in this process and in esbuild's own.
 * @param onRead called with each file that is read, before the bundler sees its text
 * @throws the error of esbuild when it does not say what is wrong with the files
 */
export async function performBuild(job: BuildJob, onRead: OnRead): Promise<BuildResult> {
  const outfile = job.kind === 'plugin' ? join(job.root, 'bundle.js') : join(job.base, 'runtime.js');
  const given = new Set<string>();
  const noted = (file: string, state: string) => {
    given.add(file);
    onRead(file, state);
  };
  const modules = new Set<string>();
  const sloppy = new Set<string>();
  const onModule = (name: string) => modules.add(name);
  const onText = (path: string, text: string) => {
    if (!isStrictCode(text)) sloppy.add(path);
  };
  const options = () => ({
    ...(job.kind === 'child' ? CHILD_BUILD : FOR_THE_GUEST),
    outfile,
    ...optionsOf(job, noted, { onModule, onText }),
  });
  try {
    const first = await build(options());
    const { outputFiles, metafile } = modules.has(CONTEXTS) ? await build({ ...options(), ...KEEPS_CONTEXTS }) : first;
    const contents = (path: string) => outputFiles?.find((file) => file.path === path)?.contents ?? NOTHING;
    const isSloppy = ([path, { format }]: [string, { format?: string }]) =>
      format !== 'esm' && job.kind === 'plugin' && sloppy.has(resolve(job.root, path));
    const mayBeStrict = metafile !== undefined && !Object.entries(metafile.inputs).some(isSloppy);
    const closed = job.kind === 'plugin' ? withClosedNamespaces(contents(outfile)) : contents(outfile);
    const code = mayBeStrict ? toStrictCode(closed) : closed;
    if (code.length > MAX_BUNDLE_BYTES) return { kind: 'oversized', bytes: code.length };
    const map = contents(`${outfile}.map`);
    return { kind: 'built', code: textOf(code), map: map.length > MAP_BYTES ? null : textOf(map) };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const isGiven = (file: string) => job.kind !== 'plugin' || given.has(resolve(job.root, file));
    return { kind: 'failed', ...buildProblems(error.errors, isGiven) };
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function optionsOf(job: BuildJob, onRead: OnRead, hooks: ImportHooks): BuildOptions {
  switch (job.kind) {
    case 'plugin':
      return ofPlugin(job, onRead, hooks);
    case 'runtime':
      return ofRuntime(job);
    case 'child':
      return { absWorkingDir: job.base, entryPoints: [job.file] };
    default:
      return job satisfies never;
  }
}

function ofPlugin({ root, modulesDir, file }: PluginJob, onRead: OnRead, hooks: ImportHooks): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: [file],
    globalName: '__isolayer_plugin__',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    plugins: [importWall({ root, modulesDir }, onRead, hooks)],
  };
}

function ofRuntime({ base, file, exported }: RuntimeJob): BuildOptions {
  return {
    absWorkingDir: base,
    entryPoints: [file],
    // Hides `structuredClone`: streams would use it to transfer a buffer, which the guest's world cannot do.
    define: exported === 'create' ? { structuredClone: 'undefined' } : {},
    format: 'cjs',
    // V8 keeps a text in half the memory when each of its characters fits a byte.
    charset: 'ascii',
    minifyWhitespace: true,
    minifySyntax: true,
    // The runtime is strict from its first word. So no code can read the caller of one of its functions.
    banner: { js: '(function () { "use strict"; const module = { exports: {} }, exports = module.exports;' },
    footer: { js: `return module.exports.${exported}; })()` },
    plugins: [runtimePartImports(join(base, 'sandbox/guest/node/plain-intrinsics.ts'))],
  };
}

/** esbuild's helper that makes the namespace object of an ES module. */
const OF_MODULE = 'var __export = (target, all) => {';
/** Its helper that makes the namespace object of a CommonJS module, and of a module of Node. */
const OF_COMMON = 'var __toESM = (mod, isNodeMode, target) => (';
const END = ');\n';
/** The helpers stand at the beginning. */
const LOOKED_AT = 8000;

/**
 * The bundle with namespace objects (`import * as …`) to which nothing can be added, as the language has them (ECMA-262
 * 10.4.6). The bundler makes ordinary objects, on which a call could leave something for the next. All lines stay where
 * they were. Those of ES modules are only noted: more is added to them until the module has run.
 */
function withClosedNamespaces(code: Uint8Array): Uint8Array {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  const head = bytes.subarray(0, LOOKED_AT).toString('latin1');
  let changed = head.replace(OF_MODULE, `${OF_MODULE} globalThis.${NAMESPACES}?.push(target);`);
  const at = changed.indexOf(OF_COMMON);
  const end = changed.indexOf(END, at);
  if (at !== -1 && end !== -1) {
    const from = at + OF_COMMON.length - 1;
    changed = `${changed.slice(0, from)}Object.freeze(${changed.slice(from, end)})${changed.slice(end)}`;
  }
  if (changed === head) return code;
  return Buffer.concat([Buffer.from(changed, 'latin1'), bytes.subarray(LOOKED_AT)]);
}

/** What may stand before a directive (ECMA-262 11.2.1). */
const BEFORE = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/|#![^\n]*|\uFEFF)*/;
const DIRECTIVE = /^(?:"use strict"|'use strict')/;

/** How the bundler's scripts begin. */
const START = Buffer.from('(() => {\n');
const MARK = Buffer.from('"use strict";');
/** The start lies within this many bytes. */
const START_BYTES = 1000;

/** Whether a file of code says that it is strict. Modules always are (ECMA-262 11.2.2), and need not say so. */
export function isStrictCode(text: string): boolean {
  return DIRECTIVE.test(text.slice(BEFORE.exec(text)?.[0].length));
}

/**
 * The script as strict code, with all lines where they were. The bundler writes strict modules into a script that is
 * not strict. There, an assignment to a frozen object would do nothing, without an error.
 */
export function toStrictCode(code: Uint8Array): Uint8Array {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  const at = bytes.subarray(0, START_BYTES).indexOf(START);
  if (at === -1) return code;
  const from = at + START.length - 1;
  return Buffer.concat([bytes.subarray(0, from), MARK, bytes.subarray(from)]);
}
