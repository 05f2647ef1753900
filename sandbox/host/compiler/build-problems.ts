import { posix } from 'node:path';
import type { BuildFailure, Location, Message } from 'esbuild';
import { endCodeFailure, type HostFailure } from '../../contract.ts';
import { absentModuleAdvice } from './absent-modules.ts';
import { type BuildProblem, type BuildProblems, MAX_PROBLEMS, PROBLEM_CHARS } from './build-job.ts';
import { isReadByBundler } from './package-files.ts';
import { nodeModuleName } from './provided-modules.ts';

/** Whether an error says what is wrong with the files of a build. False when the build ended for another cause. */
export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

const INVALID = 'This file cannot be parsed, so its imports cannot be checked';

/** The bundler's message about top-level await. It is about the output format, which the author cannot choose. */
const TOP_LEVEL_AWAIT = /^Top-level await is currently not supported/;
const AWAIT_INSIDE =
  'Top-level await is not available: a plugin is ready as soon as its file has run. Await within the handler, which may keep what it got in a variable of the module';

/** The path of the folder in which packages lie. It is not shown. */
const ABOVE_PACKAGES = /(?<![\w./-])\/(?:[^\s"'`:/]+\/)*(?=node_modules\/)/g;

/**
 * The first errors of a build, each cut to the length that is shown.
 * @param given whether the bundler got the text of a file from the import wall; the file is named as in the errors. No
 *   text of another file is repeated: the bundler read it by itself, and behind a link it may be any file
 */
export function buildProblems(errors: readonly Message[], given: (file: string) => boolean): BuildProblems {
  const problems = errors.slice(0, MAX_PROBLEMS).map((error) => problemOf(error, given));
  return { problems, total: errors.length };
}

/** Lines and columns count from 1, as editors and stack traces do. */
function problemOf({ location, text: said }: Message, given: (file: string) => boolean): BuildProblem {
  if (location !== null && !isShown(location, given)) {
    const { file, line } = location;
    return { text: INVALID, place: { file: file.slice(0), line, column: columnOf(location) } };
  }
  const unresolved = /^Could not resolve "(.+)"$/.exec(said)?.[1];
  const text = (unresolved === undefined ? reworded(said) : unresolvedReason(unresolved)).slice(0, PROBLEM_CHARS);
  if (location === null) return { text, place: null };
  return { text, place: { file: location.file.slice(0), line: location.line, column: columnOf(location) } };
}

/** Rewords a message for the author, and removes folders of the machine. */
function reworded(said: string): string {
  return TOP_LEVEL_AWAIT.test(said) ? AWAIT_INSIDE : said.slice(0, 4 * PROBLEM_CHARS).replace(ABOVE_PACKAGES, '');
}

function isShown({ file }: Location, given: (file: string) => boolean): boolean {
  return !isReadByBundler(file) && (given(file) || given(file.replace(/[?#].*$/s, '')));
}

/** The column in characters, from 1. The bundler counts bytes. */
function columnOf({ lineText, column }: Location): number {
  return Buffer.from(lineText).subarray(0, column).toString().length + 1;
}

/** The answer to a call of a plugin whose build ended with errors: file, line, column and text of each error. */
export function compileFailure(pluginId: string, { problems, total }: BuildProblems): HostFailure {
  const [first] = problems;
  const { file, line, column } = first?.place ?? { file: undefined, line: null, column: null };
  return {
    ...endCodeFailure('COMPILE_ERROR', `Compilation failed: ${problemLines({ problems, total })}`),
    details: { pluginId, file: file === undefined ? null : shown(file), line, column },
  };
}

/** The problems as text, one in a line. */
export function problemLines({ problems, total }: BuildProblems): string {
  const lines = problems.map(({ place, text }) =>
    place === null ? text : `${shown(place.file)}:${place.line}:${place.column}: ${text}`,
  );
  if (total > problems.length) lines.push(`and ${total - problems.length} more`);
  return lines.join('\n');
}

/** A file's path as messages show it. For a package beside the plugins folder, the path to that folder is left out. */
function shown(file: string): string {
  return posix.join('plugins', file);
}

/** What to tell the author when an import cannot be resolved. */
export function unresolvedReason(specifier: string): string {
  const module = nodeModuleName(specifier);
  return module === undefined
    ? `Could not resolve "${specifier}"`
    : `Cannot import "${specifier}", a module of Node.js. ${absentModuleAdvice(module)}`;
}
