import { posix } from 'node:path';
import { TraceMap } from '@jridgewell/trace-mapping';
import { type Location, type PartialMessage, type TransformOptions, transform } from 'esbuild';
import { MAX_PROBLEMS } from './build-job.ts';
import { isBuildFailure } from './build-problems.ts';
import { GUEST_SYNTAX, guestLoader, isCodeLoader } from './guest-syntax.ts';
import { originalPosition } from './source-positions.ts';

const REFUSED = 'Cannot bundle this: which file it means is only known at run time. Import each file by a fixed path';

/**
 * Code that may be a call of `import` or `require` with anything but one plain text, or a call of `module.require`,
 * which is `require` in a bundle. The keyword `import` cannot be escaped. The names `require` and `module` can, so
 * escapes of their letters match, too. Many files match nothing.
 */
const SUSPECT = new RegExp(
  [
    String.raw`\bimport(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\1\s*\))(?!\s*\.\s*meta\b)(?=\s*[(./<-])`,
    String.raw`\brequire(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\2\s*\))(?=\s*(?:[^\s\w]|as\b|satisfies\b))`,
    String.raw`\bmodule(?!\s*(?:\.\s*exports\b|!=|\?[^.]))(?=\s*(?:[^\s\w"',;:=&|{}]|as\b|satisfies\b))`,
    String.raw`\\u\{?0*(?:6[4-59cdfCDF]|71|72|75)`,
  ].join('|'),
);

/**
 * Calls whose argument begins with a text, in code without blanks. A property of another object with the same name does
 * not match.
 */
const CALL = /(?<!(?<!\.\.)\.|[#$])\b(?:import|require|module(?:\.require|\[(["'`])require\1\]))\((?=["'`])/g;

/** The bundler's warnings about calls that name no file. */
const WARNED = { 'unsupported-dynamic-import': 'warning', 'unsupported-require-call': 'warning' } as const;

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** The most characters of source lines that the errors of one file repeat. The first error always shows its line. */
const LINES_CHARS = 65_536;

/** How a call begins, unless it is spelt with escapes. */
const CALLEE = /^(?:import|require|module)\b/;

/** The most calls of one file whose places are looked up. Each one costs a look at its whole line. */
const MAX_CALLS = 100;

/** A call that the bundler would take for a pattern. */
export interface DynamicImportCall {
  /** The index in the text at which the call begins; undefined when something else is written there. */
  at: number | undefined;
  isOfModule: boolean;
  /** Counted as the bundler does: lines from 1, columns from 0 and in bytes. */
  location: Pick<Location, 'file' | 'line' | 'column' | 'lineText'>;
}

/**
 * Finds the calls of `import()` and `require()` whose argument is put together from a relative path and something else.
 * The bundler would take the argument for a pattern. It would search all folders below the path, wherever the path
 * leads, without asking its plugins (https://esbuild.github.io/api/#glob).
 * @param file its name in errors
 * @returns the calls; of more than {@link MAX_CALLS} the first ones, and one more
 * @throws BuildFailure when the text does not compile
 */
export async function findDynamicImportCalls(file: string, text: string): Promise<DynamicImportCall[]> {
  const loader = guestLoader(file);
  if (loader === undefined || !isCodeLoader(loader) || !SUSPECT.test(text)) return [];
  const how = {
    ...GUEST_SYNTAX,
    loader,
    sourcefile: file,
    treeShaking: false,
    minifyWhitespace: true,
    legalComments: 'none',
  } as const satisfies TransformOptions;
  if (callsIn((await transform(text, how)).code).next().done === true) return [];
  const { code, map } = await transform(text, { ...how, sourcemap: 'external', sourcesContent: false });
  const calls = placesOf(file, text, code, map);
  const written = calls.filter(({ at }) => at !== undefined);
  if (written.length > 0) return written;
  // The remaining calls are spelt with escapes, or stand inside a text. A call inside a text counts only when there is
  // such code, too. The bundler warns of calls of `module.require` too late.
  if (calls.length > MAX_CALLS || calls.some(({ isOfModule }) => isOfModule)) return calls;
  // Each warning carries its whole line. So warnings are asked for only when nothing else decides.
  const logOverride = { ...GUEST_SYNTAX.logOverride, ...WARNED };
  return (await transform(text, { ...how, logOverride })).warnings.length > 0 ? calls : [];
}

/**
 * The errors that refuse a text with such calls. When the text does not compile, its compile errors.
 * @param file its name in errors
 */
export async function globImports(file: string, text: string): Promise<PartialMessage[]> {
  try {
    return refusals(await findDynamicImportCalls(file, text));
  } catch (error) {
    // Does not leave the compile errors to the build: where the build refuses a text only in the end, it has searched
    // the folders by then.
    if (isBuildFailure(error)) return error.errors.slice(0, MAX_PROBLEMS);
    throw error;
  }
}

/** The first few of the calls, each as an error with its line. */
function refusals(calls: readonly DynamicImportCall[], said = REFUSED): PartialMessage[] {
  let left = LINES_CHARS;
  const shown = calls.slice(0, MAX_PROBLEMS).filter(({ location }, index) => {
    left -= location.lineText.length;
    return index === 0 || left >= 0;
  });
  return shown.map(({ location }) => ({ text: said, location }));
}

/** The indices of calls whose argument begins with `./` or `../`, whatever it is put together from. */
function* callsIn(code: string): Generator<number> {
  for (const { index, 0: call } of code.matchAll(CALL)) if (isPattern(code, index + call.length)) yield index;
}

function placesOf(file: string, text: string, code: string, map: string): DynamicImportCall[] {
  const read = new TraceMap(map);
  const generatedLines = lineStarts(code);
  const written = lineStarts(text);
  const places = new Map<number, DynamicImportCall>();
  let row = 0;
  for (const index of callsIn(code)) {
    while ((generatedLines[row + 1] ?? Number.POSITIVE_INFINITY) <= index) row += 1;
    const { line, column } = originalPosition(read, row, index - (generatedLines[row] ?? 0)) ?? { line: 0, column: 0 };
    const start = written[line] ?? 0;
    const at = start + column;
    const isOfModule = code.startsWith('module', index);
    const known = places.get(at);
    // One call of the author may become several: one for each text that its argument may be.
    if (known !== undefined) known.isOfModule ||= isOfModule;
    else {
      const lineText = text.slice(start, written[line + 1]).replace(LINE_END, '');
      const bytes = Buffer.byteLength(text.slice(start, at));
      const isWritten = CALLEE.test(text.slice(at, at + 10));
      const location = { file, line: line + 1, column: bytes, lineText };
      places.set(at, { at: isWritten ? at : undefined, isOfModule, location });
    }
    if (places.size > MAX_CALLS) break;
  }
  return [...places.values()];
}

/** Where each line begins, by ECMAScript's ends of lines (ECMA-262, 12.3). */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(LINE_END)) starts.push(index + end.length);
  return starts;
}

function isPattern(code: string, from: number): boolean {
  const end = endOfText(code, from);
  const isHole = code.startsWith('{', end);
  if (!isHole && code[end + 1] !== '+') return false;
  const text = code.slice(from + 1, isHole ? end - 1 : end);
  if (/^\.{1,2}\//.test(text)) return true;
  // A beginning of dots, or nothing, may become such a path when a text is joined to it. With anything else it may not.
  return /^\.{0,2}$/.test(text) && /^[{+]\(*["'`]/.test(code.slice(isHole ? end : end + 1, end + 100));
}

/** The index at which a quoted text ends: at its closing quote, or at the bracket of its first inserted value. */
function endOfText(code: string, from: number): number {
  const quote = code[from];
  for (let at = from + 1; at < code.length; at += 1) {
    if (code[at] === quote) return at;
    if (code[at] === '\\') at += 1;
    else if (quote === '`' && code.startsWith('${', at)) return at + 1;
  }
  return code.length;
}

/** The callee of a call, in a spelling that another name can replace. */
const REPLACEABLE = /^(?:import\b|require\b|module[ \t]{0,100}\.[ \t]{0,100}require\b|module\[(["'])require\1\])/;

/** The most names that are tried for the functions that replace calls. */
const MAX_NAMES = 1000;

/**
 * The text of a package's file with functions in place of the calls that the bundler would take for patterns, see
 * {@link findDynamicImportCalls}. Such a function throws when it is reached, as Node.js does for a missing module. Most packages
 * try such calls, or can do without. Every line and column stays where it is.
 * @param file its path below the plugins folder
 * @returns the same text when there is nothing to replace; the errors that refuse it when a call cannot be replaced
 */
export async function replaceDynamicImportCalls(file: string, text: string): Promise<string | PartialMessage[]> {
  try {
    const calls = await findDynamicImportCalls(file, text);
    if (calls.length === 0) return text;
    const replaced = replacedCalls(file, text, calls);
    if (replaced === undefined) return refusals(calls, refusedText(file));
    // Checks the new text, too, before the bundler gets it.
    const left = await findDynamicImportCalls(file, replaced);
    return left.length === 0 ? replaced : refusals(left, refusedText(file));
  } catch (error) {
    if (isBuildFailure(error)) return error.errors.slice(0, MAX_PROBLEMS);
    throw error;
  }
}

/**
 * The text with calls of other functions, which are appended behind its end. Undefined when a call cannot be replaced.
 */
function replacedCalls(file: string, text: string, calls: readonly DynamicImportCall[]): string | undefined {
  const names = freeNames(text, calls.length);
  if (names.length < calls.length || calls.length > MAX_CALLS) return undefined;
  const parts: string[] = [];
  const functions: string[] = [];
  let from = 0;
  for (const [index, { at, location }] of calls.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)).entries()) {
    const [callee] = (at === undefined ? null : REPLACEABLE.exec(text.slice(at, at + 300))) ?? [];
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
