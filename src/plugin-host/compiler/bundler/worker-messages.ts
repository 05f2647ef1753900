/**
 * What the server and the bundler's worker say to each other, in the frames of `sandbox/frames.ts`. A frame's number is
 * that of the build. Parsed by hand: the worker starts within an author's patience, and a schema library would be half
 * of that.
 */

/** Said with READY; changes with this file. A worker of another version is refused. */
export const WORKER_PROTOCOL = 2;

/** The one kind of frame that the server sends: a {@link BuildJob} as JSON. */
export const BUILD = 1;

/** Kinds of frames that the worker sends. CODE, OVERSIZED and FAILED end a build. */
export const REPORT = {
  /** Comes first; its number is {@link WORKER_PROTOCOL}. */
  READY: 1,
  /** One file and its state, ahead of the build's end: it may not come to one. */
  READ: 2,
  /** The source map, ahead of the code. */
  MAP: 3,
  CODE: 4,
  /** How many bytes the code has, which is not sent. */
  OVERSIZED: 5,
  /** {@link BuildProblems}. */
  FAILED: 6,
} as const;

/** Largest bundle of a plugin, in bytes. */
export const BUNDLE_BYTES = 10 * 1_048_576;

/** Largest source map that is kept, in bytes: reading one takes a moment in which nothing else is done. */
export const MAP_BYTES = 4 * 1_048_576;

/** Most files that a bundle is made of. */
export const MOST_FILES = 10_000;

/** Longest path of a file, in characters: no system opens longer ones. */
export const PATH_CHARS = 4096;

/** Errors of one build that an answer shows. */
export const MOST_PROBLEMS = 5;

/** Most characters of an error: it may name what the author spells out at any length. */
export const PROBLEM_CHARS = 500;

/** Largest frame of any other kind, in bytes: five errors or a path, of which every character may be escaped. */
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

/** What the worker can be told to build, in data: its own code knows how. All paths are absolute. */
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
  /** What paths in the output are relative to. */
  base: string;
  file: string;
  exported: 'boot' | 'part';
}

/** The program of a sandbox process. */
export interface ChildJob {
  kind: 'child';
  /** What paths in the output are relative to. */
  base: string;
  file: string;
}

/**
 * Parses what the server asks for.
 * @throws Error when it is anything else
 */
export function parseBuildJob(text: string): BuildJob {
  const job: unknown = JSON.parse(text);
  if (typeof job !== 'object' || job === null) throw new Error('no object');
  const { kind, file, root, modulesDir, base, exported, ...more }: Record<string, unknown> = { ...job };
  for (const key of Object.keys(more)) throw new Error(`unknown key ${key}`);
  if (kind === 'plugin') return { kind, file: path(file), root: path(root), modulesDir: path(modulesDir) };
  if (kind === 'child') return { kind, file: path(file), base: path(base) };
  if (kind !== 'runtime' || (exported !== 'boot' && exported !== 'part')) throw new Error('no such kind of build');
  return { kind, file: path(file), base: path(base), exported };
}

function path(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/')) throw new Error('no absolute path');
  return value;
}
