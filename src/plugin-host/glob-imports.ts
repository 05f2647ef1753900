import { extname } from 'node:path';
import { type Loader, type Location, type Message, type PartialMessage, transform } from 'esbuild';
import { isBuildFailure } from './build-failure.ts';
import { MOST_PROBLEMS } from './bundler-limits.ts';
import { GUEST_SYNTAX } from './guest-syntax.ts';

const REFUSED =
  'Cannot bundle this: which file it means is only known at run time. Import each file by a fixed text of its own';

/** Code by the end of a file's name, as the bundler itself has it (https://esbuild.github.io/content-types/). */
const LOADERS: ReadonlyMap<string, Loader> = new Map([
  ...['', '.js', '.mjs', '.cjs'].map((end) => [end, 'js'] as const),
  ...['.ts', '.mts', '.cts'].map((end) => [end, 'ts'] as const),
  ['.jsx', 'jsx'],
  ['.tsx', 'tsx'],
]);

/**
 * What may be a call of `import` or `require` with anything but one plain text. A keyword stands there as it is, a name
 * may be spelt with escapes, which are those of the letters of `require`. Most files have nothing of the kind.
 */
const SUSPECT = new RegExp(
  [
    String.raw`\bimport(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\1\s*\))(?!\s*\.\s*meta\b)(?=\s*[(./<-])`,
    String.raw`\brequire(?!\s*\(\s*(["'])[^"'\\\n]{0,500}\2\s*\))(?=\s*(?:[^\s\w]|as\b|satisfies\b))`,
    String.raw`\\u\{?0*(?:65|69|71|72|75)`,
  ].join('|'),
);

/** Calls with a text at their beginning, in code without blanks. */
const CALL = /\b(?:import|require)\((?=["'`])/g;

/**
 * The calls of `import()` and `require()` whose argument is put together from a relative path and something else. The
 * bundler would take it for a pattern, and look through all folders below the path for what fits, wherever that leads
 * and without a word to plugins of its own (https://esbuild.github.io/api/#glob).
 * @param file how errors name it
 * @returns the errors that refuse the text; those by which it does not compile, where that is so
 */
export async function globImports(file: string, text: string): Promise<PartialMessage[]> {
  const loader = LOADERS.get(extname(file));
  if (loader === undefined || !SUSPECT.test(text)) return [];
  try {
    // The bundler finds the calls, spelt as they may be, and writes them in one way: no text is taken for code unless
    // there is such code as well.
    const { code, warnings } = await transform(text, {
      ...GUEST_SYNTAX,
      loader,
      sourcefile: file,
      treeShaking: false,
      minifyWhitespace: true,
      legalComments: 'none',
      logOverride: {
        ...GUEST_SYNTAX.logOverride,
        'unsupported-dynamic-import': 'warning',
        'unsupported-require-call': 'warning',
      },
    });
    const [first] = warnings;
    if (first === undefined || !hasPattern(code)) return [];
    return [{ text: REFUSED, location: (warnings.find(beginsWithText) ?? first).location }];
  } catch (error) {
    // Not left to the build itself: what it refuses only in the end would be looked through by then.
    if (isBuildFailure(error)) return error.errors.slice(0, MOST_PROBLEMS);
    throw error;
  }
}

/** Whether one of the calls is of a text that begins with `./` or `../`, whatever it is put together from. */
function hasPattern(code: string): boolean {
  for (const { index, 0: call } of code.matchAll(CALL)) if (isPattern(code, index + call.length)) return true;
  return false;
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
