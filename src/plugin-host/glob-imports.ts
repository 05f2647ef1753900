import { type Location, type Message, type PartialMessage, transform } from 'esbuild';
import { isBuildFailure } from './build-failure.ts';
import { MOST_PROBLEMS } from './bundler-limits.ts';
import { GUEST_SYNTAX, guestLoader, isCode } from './guest-syntax.ts';

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
const CALL = /(?<!(?<!\.\.)\.|[#$])\b(?:import|require|(module(?:\.require|\[(["'`])require\2\])))\((?=["'`])/g;

/** What may be the word `module`, or a part of it. */
const MODULE = /\bmodule\b|\\u/;

/**
 * The calls of `import()` and `require()` whose argument is put together from a relative path and something else. The
 * bundler would take it for a pattern, and look through all folders below the path for what fits, wherever that leads
 * and without a word to plugins of its own (https://esbuild.github.io/api/#glob).
 * @param file how errors name it
 * @returns the errors that refuse the text; those by which it does not compile, where that is so
 */
export async function globImports(file: string, text: string): Promise<PartialMessage[]> {
  const loader = guestLoader(file);
  if (loader === undefined || !isCode(loader) || !SUSPECT.test(text)) return [];
  const how = {
    ...GUEST_SYNTAX,
    loader,
    sourcefile: file,
    treeShaking: false,
    minifyWhitespace: true,
    legalComments: 'none',
  } as const;
  try {
    const found = patternCalls((await transform(text, how)).code);
    if (found === undefined) return [];
    // Each warning carries its line, however long that is, so they are asked for only where there is something to
    // refuse. The bundler finds the calls, spelt as they may be: no text is taken for code unless there is such code
    // as well.
    const { warnings } = await transform(text, {
      ...how,
      logOverride: {
        ...GUEST_SYNTAX.logOverride,
        'unsupported-dynamic-import': 'warning',
        'unsupported-require-call': 'warning',
      },
    });
    const at = warnings.find(beginsWithText) ?? (found === 'module' ? undefined : warnings[0]);
    if (at !== undefined) return [{ text: REFUSED, location: at.location }];
    // Of those there is no warning before it is too late.
    return found === 'module' ? [{ text: REFUSED, location: placeOfModule(file, text) }] : [];
  } catch (error) {
    // Not left to the build itself: what it refuses only in the end would be looked through by then.
    if (isBuildFailure(error)) return error.errors.slice(0, MOST_PROBLEMS);
    throw error;
  }
}

/** Whether one of the calls is of a text that begins with `./` or `../`, whatever it is put together from. */
function patternCalls(code: string): 'module' | 'plain' | undefined {
  let found: 'plain' | undefined;
  for (const { index, 0: call, 1: ofModule } of code.matchAll(CALL)) {
    if (!isPattern(code, index + call.length)) continue;
    if (ofModule !== undefined) return 'module';
    found = 'plain';
  }
  return found;
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

function beginsWithText({ location }: Message): boolean {
  return location !== null && /^\w+\s*\([\s(]*(?:["'`]|$)/.test(restOf(location));
}

/** The bundler counts bytes. */
function restOf({ lineText, column }: Location): string {
  return Buffer.from(lineText).subarray(column).toString();
}

function placeOfModule(file: string, text: string): Partial<Location> {
  const at = Math.max(text.search(MODULE), 0);
  const before = text.slice(0, at).split('\n');
  const start = at - (before.at(-1) ?? '').length;
  const [lineText = ''] = text.slice(start).split('\n', 1);
  return { file, line: before.length, column: Buffer.byteLength(before.at(-1) ?? ''), lineText };
}
