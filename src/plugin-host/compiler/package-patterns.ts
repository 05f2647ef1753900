import { posix } from 'node:path';
import type { PartialMessage } from 'esbuild';
import { MAX_PROBLEMS } from './bundler/worker-messages.ts';
import { isBuildFailure } from './failures/build-failure.ts';
import { MAX_CALLS, type PatternCall, patternCalls, refusals } from './glob-imports.ts';

/** The callee of a call, in a spelling that another name can replace. */
const CALLEE = /^(?:import\b|require\b|module[ \t]{0,100}\.[ \t]{0,100}require\b|module\[(["'])require\1\])/;

/** The most names that are tried for the functions that replace calls. */
const MAX_NAMES = 1000;

/**
 * The text of a package's file with functions in place of the calls that the bundler would take for patterns, see
 * {@link patternCalls}. Such a function throws when it is reached, as Node.js does for a missing module. Most packages
 * try such calls, or can do without. Every line and column stays where it is.
 * @param file its path below the plugins folder
 * @returns the same text when there is nothing to replace; the errors that refuse it when a call cannot be replaced
 */
export async function throwingPatterns(file: string, text: string): Promise<string | PartialMessage[]> {
  try {
    const calls = await patternCalls(file, text);
    if (calls.length === 0) return text;
    const replaced = replacedCalls(file, text, calls);
    if (replaced === undefined) return refusals(calls, refusedText(file));
    // Checks the new text, too, before the bundler gets it.
    const left = await patternCalls(file, replaced);
    return left.length === 0 ? replaced : refusals(left, refusedText(file));
  } catch (error) {
    if (isBuildFailure(error)) return error.errors.slice(0, MAX_PROBLEMS);
    throw error;
  }
}

/**
 * The text with calls of other functions, which are appended behind its end. Undefined when a call cannot be replaced.
 */
function replacedCalls(file: string, text: string, calls: readonly PatternCall[]): string | undefined {
  const names = freeNames(text, calls.length);
  if (names.length < calls.length || calls.length > MAX_CALLS) return undefined;
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
  for (let number = 0; number < MAX_NAMES && names.length < count; number += 1) {
    const name = `$p${number.toString(36).padStart(4, '0')}`;
    if (!text.includes(name)) names.push(name);
  }
  return names;
}

function refusedText(file: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file;
  return `Cannot bundle the package "${name}": which file this means is only known at run time. Import what you need of the package by the path of its file, or use another package`;
}
