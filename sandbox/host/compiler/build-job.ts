/** What the bundler is asked to build, and its limits. The types are shared by the server and the bundler's process. */

/** Largest bundle of a plugin, in bytes. */
export const MAX_BUNDLE_BYTES = 10 * 1_048_576;

/** Largest source map that is kept, in bytes. Reading a map blocks the event loop for a moment. */
export const MAP_BYTES = 4 * 1_048_576;

/** Most files that a bundle is made of. */
export const MAX_FILES = 10_000;

/** The most errors of one build that an answer shows. */
export const MAX_PROBLEMS = 5;

/** Most characters of an error. It may repeat a text of the author, of any length. */
export const PROBLEM_CHARS = 500;

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

/** The result of a job. */
export type BuildResult =
  | { kind: 'built'; code: string; map: string | null }
  | { kind: 'oversized'; bytes: number }
  | ({ kind: 'failed' } & BuildProblems);

/** What the bundler's process tells the server. */
export type BundlerMessage =
  | { kind: 'ready' }
  /** One file and its state. Sent before the build's end, because the build may never end. */
  | { kind: 'read'; build: number; file: string; state: string }
  | { kind: 'end'; build: number; result: BuildResult };
