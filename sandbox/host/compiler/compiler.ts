import { readdir } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { constants, deflateRawSync } from 'node:zlib';
import { endCodeFailure, type HostFailure } from '../../contract.ts';
import { LAZY_MODULE_MARKER } from '../../protocol.ts';
import { type BuildResult, MAX_BUNDLE_BYTES, type RuntimeJob } from './build-job.ts';
import { compileFailure, problemLines } from './build-problems.ts';
import { Bundler, BundlerLost } from './bundler.ts';
import { childProgram, nativeAddon } from './child-program.ts';
import { areSourceFilesUnchanged, type SourceFileStates } from './source-files.ts';
import { type SourcePositions, sourcePositions } from './source-positions.ts';

/** A plugin's entry file, found inside the plugins folder. */
export interface PluginFile {
  /** Absolute, without symbolic links. */
  file: string;
  /** The path as messages show it, for instance `plugins/hello.ts`. */
  label: string;
}

/** Makes bundles of plugins and of the guest runtime. */
export interface Compiler {
  /** A plugin's bundle, or why there is none. */
  compile(pluginId: string, source: PluginFile): Promise<Bundle | HostFailure>;
  /** Called when files have changed. Restarts a build of the plugin that is under way and has read one of them. */
  filesChanged(pluginId: string): Promise<void>;
  /** The guest runtime: an expression that evaluates to the function `boot`, and its lazy modules, see {@link LAZY_MODULE_MARKER}. */
  runtime(): Promise<string>;
  /** The program of a sandbox process, see {@link childProgram}. */
  child(): Promise<string>;
  /** Ends the bundler's own process and the builds under way. A later build starts it again. */
  close(): Promise<void>;
}

export interface Bundle {
  /** A script that leaves the module's exports on `__isolayer_plugin__`. */
  code: string;
  positions: SourcePositions;
  /** The memory that the bundle and its source map take, in bytes. */
  bytes: number;
  /** Absolute paths of the files that it was made of. */
  inputs: ReadonlySet<string>;
}

export interface CompilerDeps {
  /** The plugins folder, without symbolic links. */
  root: string;
  sandboxDir: string;
  /** A build that takes longer ends. */
  timeoutMs?: number;
  /** Memory of the bundler's processes together, in bytes: a build that takes more ends. */
  memoryBytes?: number;
}

const COMPILE_MS = 30_000;
const MIB = 1_048_576;
const MEMORY_BYTES = 768 * MIB;
/**
 * How long the bundler's process waits for another build, in ms. Long enough for an author who saves again, short
 * enough that a server at rest holds no memory for it.
 */
const IDLE_MS = 5000;

const WHY = {
  ended: 'failed: the bundler crashed, as it does over code that is nested too deeply',
  unstarted: 'failed: the bundler did not start',
  closed: 'failed: the bundler was closed meanwhile',
};
const AGAIN = 'is compiled again when a file that it is made of changes';

/** Creates a compiler whose bundler knows where plugins may import from. */
export function createCompiler(deps: CompilerDeps): Compiler {
  const { root, sandboxDir, timeoutMs = COMPILE_MS, memoryBytes = MEMORY_BYTES } = deps;
  const modulesDir = join(sandboxDir, 'guest', 'modules');
  const bundler = new Bundler({ timeoutMs, idleMs: IDLE_MS, memoryBytes });
  /** Builds that ended the bundler's process, by plugin. Such a build is not tried again until its files change. */
  const harmful = new Map<string, { read: SourceFileStates; failure: HostFailure }>();
  /** The builds under way, by plugin, with the files that each has read. */
  const lasting = new Map<string, { read: SourceFileStates; outdated: AbortController }>();

  return {
    async compile(pluginId, { file, label }) {
      const known = harmful.get(pluginId);
      if (known?.read.has(file) === true && (await areSourceFilesUnchanged(known.read))) return known.failure;
      harmful.delete(pluginId);
      for (;;) {
        const read: SourceFileStates = new Map();
        const outdated = new AbortController();
        lasting.set(pluginId, { read, outdated });
        try {
          const built = await bundler.build({ kind: 'plugin', root, modulesDir, file }, read, outdated.signal);
          if (built.kind === 'failed') return compileFailure(pluginId, built);
          if (built.kind === 'oversized') return tooLarge(pluginId, label, built.bytes);
          const { code, map } = built;
          const bytes = Buffer.byteLength(code) + Buffer.byteLength(map ?? '');
          return { code, positions: sourcePositions(label, map, 'plugins'), bytes, inputs: new Set(read.keys()) };
        } catch (error) {
          const reason = error instanceof BundlerLost ? error.reason : 'unstarted';
          if (reason === 'outdated') continue;
          const why = { ...WHY, late: `timed out after ${timeoutMs}ms`, memory: tooMuchMemory(memoryBytes) }[reason];
          const isItsOwn = reason === 'ended' || reason === 'late' || reason === 'memory';
          const message = `Compilation ${why}${isItsOwn ? `; ${label} ${AGAIN}` : ''}`;
          const failure = { ...endCodeFailure('COMPILE_ERROR', message), details: { pluginId, file: label } };
          if (isItsOwn && read.size > 0) harmful.set(pluginId, { read, failure });
          return failure;
        } finally {
          lasting.delete(pluginId);
        }
      }
    },

    async filesChanged(pluginId) {
      const build = lasting.get(pluginId);
      if (build !== undefined && !(await areSourceFilesUnchanged(build.read))) build.outdated.abort();
    },

    async runtime() {
      const guest = join(sandboxDir, 'guest');
      const names = (await readdir(join(guest, 'lazy'))).filter((file) => file.endsWith('.ts'));
      const [runtime, ...lazy] = await Promise.all([
        expression(bundler, join(guest, 'boot.ts'), 'boot', sandboxDir),
        ...names.map((file) => expression(bundler, join(guest, 'lazy', file), 'create', sandboxDir)),
      ]);
      return [
        runtime,
        ...lazy.map((text, index) => `${LAZY_MODULE_MARKER}${parse(names[index] ?? '').name}\n${packed(text)}`),
      ].join('');
    },

    async child() {
      const file = join(sandboxDir, 'process', 'main.ts');
      const built = await bundler.build({ kind: 'child', base: dirname(sandboxDir), file });
      return childProgram(codeOf(built), nativeAddon());
    },

    close: () => bundler.close(),
  };
}

/** A file of the guest runtime as an expression that evaluates to one of its exports. */
async function expression(
  bundler: Bundler,
  file: string,
  exported: RuntimeJob['exported'],
  sandboxDir: string,
): Promise<string> {
  return codeOf(await bundler.build({ kind: 'runtime', base: dirname(sandboxDir), file, exported }));
}

/** Named as the runtime in stack traces, whether the text is evaluated or compiled. */
function packed(text: string): string {
  return deflateRawSync(`${text}//# sourceURL=isolayer\n`, { level: constants.Z_BEST_COMPRESSION }).toString('base64');
}

function codeOf(built: BuildResult): string {
  if (built.kind === 'built') return built.code;
  throw new Error(`The sandbox does not build: ${built.kind === 'failed' ? problemLines(built) : built.kind}`);
}

function tooLarge(pluginId: string, label: string, bytes: number): HostFailure {
  return {
    code: 'SIZE_LIMIT',
    message: `The bundle of ${label} has ${bytes} bytes, more than ${MAX_BUNDLE_BYTES}`,
    status: 500,
    details: { pluginId, file: label },
  };
}

function tooMuchMemory(bytes: number): string {
  return `failed: the bundler took more than ${Math.floor(bytes / MIB)} MiB of memory over it, as over code that is nested too deeply or has very many errors`;
}
