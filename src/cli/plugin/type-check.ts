import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TYPES_DIR } from './install-types.ts';

/** The compilers to try. The one of the plugins folder comes first, then the one of the service's development. */
const COMPILERS = ['typescript/bin/tsc', 'typescript-native/bin/tsc'];

/** The start of a problem's first line, which may name its file. The problem's further lines are indented. */
const START = /^(?:(\S[^(]*)\(\d+,\d+\): )?error TS(\d+): /;

/** What the compiler found. */
interface TypeCheck {
  /** The problems of the wanted files; those of several lines have them in one text. */
  problems: string[];
  /** Why the types were not checked, or not all of them. */
  note?: string;
  /** True when the compiler ran, and did not get as far as the types. */
  isUnknown?: boolean;
}

/** A problem as the compiler prints it. `file` is empty for a problem of the whole. */
interface Problem {
  file: string;
  code: number;
  text: string;
}

/**
 * Checks the types of a folder.
 * @param wanted whether problems of this file count
 * @param own whether a file is one of those that were asked for; absent when all were
 */
export async function typeProblems(
  folder: string,
  wanted: (file: string) => boolean = () => true,
  own?: (file: string) => boolean,
): Promise<TypeCheck> {
  const config = join(folder, 'tsconfig.json');
  if (!existsSync(config)) return { problems: [], note: 'types: not checked; npx isolayer plugin types installs them' };
  const compiler = compilerFor(config);
  if (compiler === undefined)
    return { problems: [], note: 'types: not checked; npm install -D typescript brings the compiler' };
  const found = await compile(compiler, folder, config);
  const unparsed = found.filter(isSyntax);
  if (unparsed.length === 0) return { problems: textsOf(found, wanted) };
  // Beside a file that does not parse, the compiler checks no types at all, of no file. So it runs again without it.
  const files = new Set(unparsed.map(({ file }) => file));
  const rest =
    own === undefined ? { exclude: ['**/node_modules', ...files] } : { include: await ownFiles(folder, own) };
  const others = await compileSome(compiler, folder, rest);
  const [stuck] = others.filter(isSyntax);
  const problems = own === undefined ? [...unparsed, ...others.filter(({ file }) => !files.has(file))] : others;
  const texts = textsOf(problems, wanted);
  if (stuck === undefined) return { problems: texts };
  return { problems: texts, note: `types: not checked, because ${stuck.file} does not parse`, isUnknown: true };
}

/** What a plugin's own files are checked with: themselves, and declarations of globals. */
async function ownFiles(folder: string, own: (file: string) => boolean): Promise<string[]> {
  const files = [`${TYPES_DIR}/*.d.ts`, `${TYPES_DIR}/types/*.d.ts`, '*.d.ts'];
  for await (const file of glob('**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx}', {
    cwd: folder,
    exclude: (name) => name === 'node_modules',
  })) {
    if (own(file)) files.push(file);
  }
  return files;
}

function textsOf(problems: readonly Problem[], wanted: (file: string) => boolean): string[] {
  return problems.filter(({ file }) => file === '' || wanted(file)).map((problem) => problem.text);
}

/** TypeScript numbers its syntax errors from 1000 to 1999. */
function isSyntax({ file, code }: Problem): boolean {
  return file !== '' && code >= 1000 && code < 2000;
}

/** Checks only some files of a folder, by its own options. */
async function compileSome(
  compiler: string,
  folder: string,
  some: { include: string[] } | { exclude: string[] },
): Promise<Problem[]> {
  // Beside the folder's own file, so that the same packages are found. The service does not look at hidden files.
  const config = join(folder, `.tsconfig-check-${process.pid}.json`);
  await writeFile(config, JSON.stringify({ extends: './tsconfig.json', ...some }));
  try {
    return await compile(compiler, folder, config);
  } finally {
    await rm(config, { force: true });
  }
}

async function compile(compiler: string, folder: string, config: string): Promise<Problem[]> {
  const child = spawn(process.execPath, [compiler, '-p', config, '--noEmit', '--pretty', 'false'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const problems: Problem[] = [];
  for (const line of (await text(child.stdout)).split('\n').filter((one) => one.trim() !== '')) {
    const [start, file = '', code] = START.exec(line) ?? [];
    const last = problems.at(-1);
    if (start !== undefined || last === undefined) problems.push({ file, code: Number(code), text: line });
    else last.text += `\n${line}`;
  }
  return problems;
}

function compilerFor(config: string): string | undefined {
  for (const from of [config, import.meta.url]) {
    const { resolve } = createRequire(from);
    for (const name of COMPILERS) {
      const [packageName = '', ...path] = name.split('/');
      try {
        return join(resolve(`${packageName}/package.json`), '..', ...path);
      } catch {
        // Not installed: try the next one.
      }
    }
  }
  return undefined;
}
