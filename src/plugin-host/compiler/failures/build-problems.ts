import type { Location, Message } from 'esbuild';
import {
  type BuildProblem,
  type BuildProblems,
  MOST_PROBLEMS,
  PATH_CHARS,
  PROBLEM_CHARS,
} from '../bundler/worker-messages.ts';
import { unresolvedReason } from '../import-wall.ts';
import { isReadByBundler } from '../package-files.ts';

const INVALID = 'This file is not valid, so that nothing can be imported past it';

/** The bundler speaks of its output format, which is no choice of the author's. */
const TOP_LEVEL_AWAIT = /^Top-level await is currently not supported/;
const AWAIT_INSIDE =
  'Top-level await is not available: a plugin is ready as soon as its file has run. Await within the handler, which may keep what it got in a variable of the module';

/** A path down to where packages lie, which is nobody's business. */
const ABOVE_PACKAGES = /(?<![\w./-])\/(?:[^\s"'`:/]+\/)*(?=node_modules\/)/g;

/**
 * The first errors of a build, each with the most that is shown of it.
 * @param given whether the bundler was given the text of a file, named as its errors name it; of another file that it
 * read by itself, which may be any at all behind a link, no word is repeated
 */
export function buildProblems(errors: readonly Message[], given: (file: string) => boolean): BuildProblems {
  const problems = errors.slice(0, MOST_PROBLEMS).map((error) => problemOf(error, given));
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

/** Says what concerns an author in words for one, and names no folder of the machine. */
function reworded(said: string): string {
  return TOP_LEVEL_AWAIT.test(said) ? AWAIT_INSIDE : said.slice(0, 4 * PROBLEM_CHARS).replace(ABOVE_PACKAGES, '');
}

function isShown({ file }: Location, given: (file: string) => boolean): boolean {
  return !isReadByBundler(file) && (given(file) || given(file.replace(/[?#].*$/s, '')));
}

/** The bundler counts bytes. */
function columnOf({ lineText, column }: Location): number {
  return Buffer.from(lineText).subarray(0, column).toString().length + 1;
}
