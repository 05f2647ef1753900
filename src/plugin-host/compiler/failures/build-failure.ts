import type { BuildFailure } from 'esbuild';

/** Whether a build says what is wrong with its files, and did not end for another cause. */
export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}
