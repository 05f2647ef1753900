import type { BuildFailure } from 'esbuild';

/** Whether an error says what is wrong with the files of a build. False when the build ended for another cause. */
export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}
