/**
 * The messages between the server and the bundler's worker, in the frames of `sandbox/frames.ts`. A frame's number is
 * the number of the build. They are parsed by hand: the author waits for the worker's start, and a schema library would
 * take half of that time.
 */

/** Sent with READY. It changes with this file. A worker of another version is refused. */
export const WORKER_PROTOCOL = 2;

/** The one kind of frame that the server sends: a {@link BuildJob} as JSON. */
export const BUILD = 1;

/** Kinds of frames that the worker sends. CODE, OVERSIZED and FAILED end a build. */
export const REPORT = {
  /** Comes first; its number is {@link WORKER_PROTOCOL}. */
  READY: 1,
  /** One file and its state. Sent before the build's end, because the build may never end. */
  READ: 2,
  /** The source map, ahead of the code. */
  MAP: 3,
  CODE: 4,
  /** The size of the code in bytes. The code itself is not sent. */
  OVERSIZED: 5,
  /** {@link BuildProblems}. */
  FAILED: 6,
} as const;

/** Largest bundle of a plugin, in bytes. */
export const BUNDLE_BYTES = 10 * 1_048_576;

/** Largest source map that is kept, in bytes. Reading a map blocks the event loop for a moment. */
export const MAP_BYTES = 4 * 1_048_576;

/** Most files that a bundle is made of. */
export const MAX_FILES = 10_000;

/** Longest path of a file, in characters: no system opens longer ones. */
export const PATH_CHARS = 4096;

/** The most errors of one build that an answer shows. */
export const MAX_PROBLEMS = 5;

/** Most characters of an error. It may repeat a text of the author, of any length. */
export const PROBLEM_CHARS = 500;

/** Largest frame of any other kind, in bytes. It has room for five errors or a path with every character escaped. */
const SMALL_BYTES = 256 * 1024;

/** Most bytes that a frame of the worker may carry; undefined when there is no such kind. */
export function mostReportBytes(kind: number): number | undefined {
  if (kind < REPORT.READY || kind > REPORT.FAILED) return undefined;
  if (kind === REPORT.CODE) return BUNDLE_BYTES;
  return kind === REPORT.MAP ? MAP_BYTES : SMALL_BYTES;
}

/** Most bytes that a frame of the server may carry. */
export function mostRequestBytes(kind: number): number | undefined {
  return kind === BUILD ? SMALL_BYTES : undefined;
}

/** What is wrong with a file of a build. */
export interface BuildProblem {
  text: string;
  /** Lines and columns count from 1. */
  place: { file: string; line: number; column: number } | null;
}

/** The first problems of a build, and how many there are in all. */
export interface BuildProblems {
  problems: BuildProblem[];
  total: number;
}

/** A job for the worker. It is only data: the worker's own code knows how to build it. All paths are absolute. */
export type BuildJob = PluginJob | RuntimeJob | ChildJob;

/** A plugin, behind the import wall. */
export interface PluginJob {
  kind: 'plugin';
  /** The plugins folder, without symbolic links. */
  root: string;
  modulesDir: string;
  file: string;
}

/** A file of the guest runtime, as an expression that evaluates to one of its exports. */
export interface RuntimeJob {
  kind: 'runtime';
  /** The folder to which paths in the output are relative. */
  base: string;
  file: string;
  exported: 'boot' | 'create';
}

/** The program of a sandbox process. */
export interface ChildJob {
  kind: 'child';
  /** The folder to which paths in the output are relative. */
  base: string;
  file: string;
}

/**
 * Parses a job of the server.
 * @throws Error when it is anything else
 */
export function parseBuildJob(text: string): BuildJob {
  const job: unknown = JSON.parse(text);
  if (typeof job !== 'object' || job === null) throw new Error('no object');
  const { kind, file, root, modulesDir, base, exported, ...more }: Record<string, unknown> = { ...job };
  for (const key of Object.keys(more)) throw new Error(`unknown key ${key}`);
  if (kind === 'plugin') return { kind, file: path(file), root: path(root), modulesDir: path(modulesDir) };
  if (kind === 'child') return { kind, file: path(file), base: path(base) };
  if (kind !== 'runtime' || (exported !== 'boot' && exported !== 'create')) throw new Error('no such kind of build');
  return { kind, file: path(file), base: path(base), exported };
}

function path(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/')) throw new Error('no absolute path');
  return value;
}
