import type { Location, Message } from 'esbuild';
import {
  type BuildProblem,
  type BuildProblems,
  MAX_PROBLEMS,
  PATH_CHARS,
  PROBLEM_CHARS,
} from '../bundler/worker-messages.ts';
import { unresolvedReason } from '../import-wall.ts';
import { isReadByBundler } from '../package-files.ts';

const INVALID = 'This file is not valid, so that nothing can be imported past it';

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
    return { text: INVALID, place: { file: file.slice(0, PATH_CHARS), line, column: columnOf(location) } };
  }
  const unresolved = /^Could not resolve "(.+)"$/.exec(said)?.[1];
  const text = (unresolved === undefined ? reworded(said) : unresolvedReason(unresolved)).slice(0, PROBLEM_CHARS);
  if (location === null) return { text, place: null };
  return { text, place: { file: location.file.slice(0, PATH_CHARS), line: location.line, column: columnOf(location) } };
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
