import { type Location, type PartialMessage, type TransformOptions, transform } from 'esbuild';
import { MOST_PROBLEMS } from './bundler/worker-messages.ts';
import { isBuildFailure } from './failures/build-failure.ts';
import { GUEST_SYNTAX, guestLoader, isCode } from './guest-syntax.ts';
import { readSourceMap } from './source-map.ts';

const REFUSED =
  'Cannot bundle this: which file it means is only known at run time. Import each file by a fixed text of its own';

/**
 * What may be a call of `import` or `require` with anything but one plain text, or of `module.require`, which is
 * `require` in a bundle. A keyword stands there as it is, a name may be spelt with escapes, which are those of the
 * letters of `require` and `module`. Many files have nothing of the kind.
 */
const SUSPECT = new RegExp(
  [
    String.raw`\bimport(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\1\s*\))(?!\s*\.\s*meta\b)(?=\s*[(./<-])`,
    String.raw`\brequire(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\2\s*\))(?=\s*(?:[^\s\w]|as\b|satisfies\b))`,
    String.raw`\bmodule(?!\s*(?:\.\s*exports\b|!=|\?[^.]))(?=\s*(?:[^\s\w"',;:=&|{}]|as\b|satisfies\b))`,
    String.raw`\\u\{?0*(?:6[4-59cdfCDF]|71|72|75)`,
  ].join('|'),
);

/** Calls with a text at their beginning, in code without blanks. What is named like them may be a property of another. */
const CALL = /(?<!(?<!\.\.)\.|[#$])\b(?:import|require|module(?:\.require|\[(["'`])require\1\]))\((?=["'`])/g;

/** What the bundler says of calls that name no file. */
const WARNED = { 'unsupported-dynamic-import': 'warning', 'unsupported-require-call': 'warning' } as const;

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** What the errors of one file repeat of its lines, in characters, beyond the first of them. */
const LINES_CHARS = 65_536;

/** What a call begins with, unless it is spelt with escapes. */
const CALLEE = /^(?:import|require|module)\b/;

/** Calls of one file whose places are looked up: each costs a look at its line, however long that is. */
export const MOST_CALLS = 100;

/** A call of which the bundler would make a pattern. */
export interface PatternCall {
  /** Where in the text it begins; undefined where something else is written there. */
  at: number | undefined;
  isOfModule: boolean;
  /** Counted as the bundler does: lines from 1, columns from 0 and in bytes. */
  location: Pick<Location, 'file' | 'line' | 'column' | 'lineText'>;
}

/**
 * The calls of `import()` and `require()` whose argument is put together from a relative path and something else. The
 * bundler would take it for a pattern and search all folders below the path, wherever that leads, without asking its
 * plugins (https://esbuild.github.io/api/#glob).
 * @param file how errors name it
 * @returns of more than {@link MOST_CALLS} the first ones, and one more
 * @throws BuildFailure when the text does not compile
 */
export async function patternCalls(file: string, text: string): Promise<PatternCall[]> {
  const loader = guestLoader(file);
  if (loader === undefined || !isCode(loader) || !SUSPECT.test(text)) return [];
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
  // Others are spelt with escapes, or stand in a text: that is taken for code only where there is such code as well. Of
  // calls of `module.require` the bundler does not warn before it is too late.
  if (calls.length > MOST_CALLS || calls.some(({ isOfModule }) => isOfModule)) return calls;
  // Each warning carries its line, however long that is, so they are asked for only where nothing else says.
  const logOverride = { ...GUEST_SYNTAX.logOverride, ...WARNED };
  return (await transform(text, { ...how, logOverride })).warnings.length > 0 ? calls : [];
}

/**
 * The errors that refuse a text with such calls; those by which it does not compile, where that is so.
 * @param file how errors name it
 */
export async function globImports(file: string, text: string): Promise<PartialMessage[]> {
  try {
    return refusals(await patternCalls(file, text));
  } catch (error) {
    // Not left to the build itself: what it refuses only in the end would be looked through by then.
    if (isBuildFailure(error)) return error.errors.slice(0, MOST_PROBLEMS);
    throw error;
  }
}

/** The first few of the calls, each as an error with its line. */
export function refusals(calls: readonly PatternCall[], said = REFUSED): PartialMessage[] {
  let left = LINES_CHARS;
  const shown = calls.slice(0, MOST_PROBLEMS).filter(({ location }, index) => {
    left -= location.lineText.length;
    return index === 0 || left >= 0;
  });
  return shown.map(({ location }) => ({ text: said, location }));
}

/** Where calls begin whose text begins with `./` or `../`, whatever it is put together from. */
function* callsIn(code: string): Generator<number> {
  for (const { index, 0: call } of code.matchAll(CALL)) if (isPattern(code, index + call.length)) yield index;
}

function placesOf(file: string, text: string, code: string, map: string): PatternCall[] {
  const found = readSourceMap(map);
  const made = lineStarts(code);
  const written = lineStarts(text);
  const places = new Map<number, PatternCall>();
  let row = 0;
  for (const index of callsIn(code)) {
    while ((made[row + 1] ?? Number.POSITIVE_INFINITY) <= index) row += 1;
    const { line, column } = found.find(row, index - (made[row] ?? 0)) ?? { line: 0, column: 0 };
    const start = written[line] ?? 0;
    const at = start + column;
    const isOfModule = code.startsWith('module', index);
    const known = places.get(at);
    // One call may become several, one for each text that it may be of.
    if (known !== undefined) known.isOfModule ||= isOfModule;
    else {
      const lineText = text.slice(start, written[line + 1]).replace(LINE_END, '');
      const bytes = Buffer.byteLength(text.slice(start, at));
      const isWritten = CALLEE.test(text.slice(at, at + 10));
      const location = { file, line: line + 1, column: bytes, lineText };
      places.set(at, { at: isWritten ? at : undefined, isOfModule, location });
    }
    if (places.size > MOST_CALLS) break;
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
  // Texts that are joined at run time may come to the same; one of anything else may not.
  return /^\.{0,2}$/.test(text) && /^[{+]\(*["'`]/.test(code.slice(isHole ? end : end + 1, end + 100));
}

/** Where the text that begins with a quote ends: at the quote, or at the bracket of what is put into it. */
function endOfText(code: string, from: number): number {
  const quote = code[from];
  for (let at = from + 1; at < code.length; at += 1) {
    if (code[at] === quote) return at;
    if (code[at] === '\\') at += 1;
    else if (quote === '`' && code.startsWith('${', at)) return at + 1;
  }
  return code.length;
}
