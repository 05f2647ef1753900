import type { BuildFailure, Message } from 'esbuild';
import { MOST_PROBLEMS, PATH_CHARS, PROBLEM_CHARS } from './bundler-limits.ts';
import type { BuildProblem, BuildProblems } from './bundler-report.ts';
import { unresolvedReason } from './import-wall.ts';

/** The first errors of a build, each with the most that is shown of it. */
export function buildProblems(errors: readonly Message[]): BuildProblems {
  return { problems: errors.slice(0, MOST_PROBLEMS).map(problemOf), total: errors.length };
}

/** Whether a build says what is wrong with its files, and did not end for another cause. */
export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

/** Lines and columns count from 1, as editors and stack traces do. */
function problemOf({ location, text: said }: Message): BuildProblem {
  const unresolved = /^Could not resolve "(.+)"$/.exec(said)?.[1];
  const text = (unresolved === undefined ? said : unresolvedReason(unresolved)).slice(0, PROBLEM_CHARS);
  if (location === null) return { text, place: null };
  // The bundler counts bytes.
  const column = Buffer.from(location.lineText).subarray(0, location.column).toString().length + 1;
  return { text, place: { file: location.file.slice(0, PATH_CHARS), line: location.line, column } };
}
