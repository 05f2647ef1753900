import { posix } from 'node:path';
import type { PartialMessage } from 'esbuild';
import { MOST_PROBLEMS } from './bundler/worker-messages.ts';
import { isBuildFailure } from './failures/build-failure.ts';
import { MOST_CALLS, type PatternCall, patternCalls, refusals } from './glob-imports.ts';

/** What is called, where it is written so that other words can stand in its place. */
const CALLEE = /^(?:import\b|require\b|module[ \t]{0,100}\.[ \t]{0,100}require\b|module\[(["'])require\1\])/;

/** Names that are tried for what takes the place of a call. */
const MOST_NAMES = 1000;

/**
 * The text of a package's file, where a call that the bundler would take for a pattern, see {@link patternCalls},
 * throws when it is reached, as Node.js does where a module is missing. Most packages try such calls, or can do
 * without. Every line and column stays where it is.
 * @param file its path below the plugins folder
 * @returns the same text where nothing is to be replaced; the errors that refuse it, where something cannot be
 */
export async function throwingPatterns(file: string, text: string): Promise<string | PartialMessage[]> {
  try {
    const calls = await patternCalls(file, text);
    if (calls.length === 0) return text;
    const replaced = replacedCalls(file, text, calls);
    if (replaced === undefined) return refusals(calls, refusedText(file));
    // The bundler is given nothing that was not looked at.
    const left = await patternCalls(file, replaced);
    return left.length === 0 ? replaced : refusals(left, refusedText(file));
  } catch (error) {
    if (isBuildFailure(error)) return error.errors.slice(0, MOST_PROBLEMS);
    throw error;
  }
}

/** The text with other functions called, which stand behind its end; undefined where that does not do. */
function replacedCalls(file: string, text: string, calls: readonly PatternCall[]): string | undefined {
  const names = freeNames(text, calls.length);
  if (names.length < calls.length || calls.length > MOST_CALLS) return undefined;
  const parts: string[] = [];
  const functions: string[] = [];
  let from = 0;
  for (const [index, { at, location }] of calls.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)).entries()) {
    const [callee] = (at === undefined ? null : CALLEE.exec(text.slice(at, at + 300))) ?? [];
    if (at === undefined || callee === undefined) return undefined;
    const name = names[index] ?? '';
    parts.push(text.slice(from, at), name.padEnd(callee.length));
    functions.push(thrower(name, callee, posix.join('plugins', file), location.line));
    from = at + callee.length;
  }
  return [...parts, text.slice(from), '\n', ...functions].join('');
}

function thrower(name: string, callee: string, file: string, line: number): string {
  const [prefix, code] = callee === 'import' ? ['async ', 'ERR_MODULE_NOT_FOUND'] : ['', 'MODULE_NOT_FOUND'];
  const message = `This module picks a file at run time, which a bundle cannot do: ${file}:${line}`;
  const error = `Object.assign(new Error(${JSON.stringify(message)}), { code: '${code}' })`;
  return `${prefix}function ${name}() { throw ${error}; }\n`;
}

/** Names that do not occur in the text, none longer than `import`. */
function freeNames(text: string, count: number): string[] {
  const names: string[] = [];
  for (let number = 0; number < MOST_NAMES && names.length < count; number += 1) {
    const name = `$p${number.toString(36).padStart(4, '0')}`;
    if (!text.includes(name)) names.push(name);
  }
  return names;
}

function refusedText(file: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file;
  return `Cannot bundle the package "${name}": which file this means is only known at run time. Import what you need of the package by the path of its file, or use another package`;
}
