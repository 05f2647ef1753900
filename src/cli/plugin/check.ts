import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { readPluginGrants } from '../../features/plugins/host/capabilities/grants.ts';
import { hostRefusal } from '../../features/plugins/host/catalog/fetch-hosts.ts';
import type { CatalogPlugin } from '../../features/plugins/host/catalog/known-plugin.ts';
import type { ServingVersion } from '../../features/plugins/host/catalog/version-swap.ts';
import type { PluginEntry } from '../../features/plugins/records/plugin.ts';
import { kindOf, nextMoment } from '../../features/triggers/records/trigger.ts';
import { compilePlugins } from '../check-config.ts';
import type { CommandArguments, CommandContext } from '../command.ts';
import { readCommandEnvironment, readPluginConfiguration } from '../settings.ts';
import { TYPES_DIR } from './install-types.ts';

/** Patterns in a bundle: the use of an available Node module, and the start of a stub for an unavailable one. */
const PROVIDED = /\bSymbol\.for\("isolayer\.module"\)\]\("([a-z_/]+)"\)/g;

const ABSENT = /\bvar name\d* = "([a-z_/]+)";\s+var instead\d* = /g;

/** `plugin check`: reports everything that a start and an editor would report about plugins. */
export async function checkPlugins(context: CommandContext, { values: [id] }: CommandArguments): Promise<number> {
  const { PLUGINS_DIR } = await readCommandEnvironment(context);
  const began = performance.now();
  const settings = await readPluginConfiguration(context);
  if (settings.fault !== undefined) context.say(`${settings.fault}: checked as if nothing were granted`);
  const all = await compilePlugins(context.cwd, settings);
  const plugins = all.filter(({ entry }) => id === undefined || entry.id === id);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (plugins.length === 0)
    throw new Error(`There is no plugin ${id === undefined ? 'yet' : JSON.stringify(id)} in ${PLUGINS_DIR}`);
  for (const plugin of plugins) report(context, plugin);
  context.say(`compiled in ${seconds} s`);
  const others = all.filter((plugin) => !plugins.includes(plugin)).map(({ entry }) => placeOf(entry));
  const own = id === undefined ? undefined : plugins.map(({ entry }) => placeOf(entry));
  const types = await findTypeProblems(
    resolve(context.cwd, PLUGINS_DIR),
    (file) => !others.some((place) => place(file)),
    own && ((file) => own.some((place) => place(file))),
  );
  for (const problem of types.problems) context.complain(problem);
  const { length: count } = types.problems;
  if (count > 0) context.say(`types: ${count} ${count === 1 ? 'problem' : 'problems'}`);
  if (types.note !== undefined) context.say(types.note);
  else if (count === 0) context.say('types: ok');
  return plugins.some(({ failure }) => failure !== undefined) || count > 0 || types.isUnknown === true ? 1 : 0;
}

/** Returns a test for a plugin's own files, by their paths below the plugins folder. */
function placeOf({ path }: PluginEntry): (file: string) => boolean {
  const own = path.replace(/^\.?\/*(?:plugins\/)?/, '');
  const [folder] = own.split('/');
  const test = own.replace(/\.\w+$/, '.test.');
  return (file) => file === own || file.startsWith(`${folder}/`) || file.startsWith(test);
}

function report({ say, complain }: CommandContext, { entry, serving, failure }: CatalogPlugin): void {
  if (failure !== undefined)
    complain(`plugin ${entry.id}: ${[failure.message, failure.hint].filter(Boolean).join('; ')}`);
  if (serving === undefined) return;
  const { code } = serving.version;
  if (failure === undefined) say(`plugin ${entry.id}: ${entry.path} compiles, ${(code.length / 1024).toFixed(1)} KiB`);
  const provided = namesIn(code, PROVIDED);
  const absent = namesIn(code, ABSENT);
  if (serving.warning !== undefined) say(`  warning: ${serving.warning}`);
  if (provided.length > 0) say(`  of Node.js: ${provided.join(', ')}`);
  if (absent.length > 0) say(`  of Node.js, not available, throws when it is called: ${absent.join(', ')}`);
  for (const line of missingGrants(entry, serving)) say(`  ${line}`);
  for (const line of nextCalls(entry, Date.now())) say(`  ${line}`);
}

/** How many of the next moments of a trigger are shown. */
const SHOWN_MOMENTS = 5;

/** When the service will call a plugin by itself. */
function nextCalls({ triggers = [] }: PluginEntry, now: number): string[] {
  return triggers.map((trigger) => {
    const kind = kindOf(trigger);
    if (kind !== 'cron' && kind !== 'every') return `trigger ${trigger.name}: on ${kind}`;
    const zone = trigger.time_zone ?? 'UTC';
    const moments: string[] = [];
    for (let at = nextMoment(trigger, now); at !== undefined && moments.length < SHOWN_MOMENTS; ) {
      const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
      moments.push(local.toString({ smallestUnit: 'second', timeZoneName: 'never' }).replace('T', ' '));
      at = nextMoment(trigger, at);
    }
    return `trigger ${trigger.name}: next at ${moments.join(', ')} (${zone})`;
  });
}

function namesIn(code: string, pattern: RegExp): string[] {
  return [...new Set([...code.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

/** Lists what a plugin reads and fetches without a grant, with the line of its entry that would grant it. */
function missingGrants(entry: PluginEntry, { reads }: ServingVersion): string[] {
  const grants = readPluginGrants(entry);
  const env = reads.environment.filter((name) => entry.permissions?.env.includes(name) !== true);
  const hosts = reads.hosts.filter((host) => hostRefusal(host, grants.hosts) !== undefined);
  const wanted = { ...(env.length > 0 && { env }), ...(hosts.length > 0 && { hosts }) };
  if (Object.keys(wanted).length === 0) return [];
  const pasted = { id: entry.id, path: entry.path, permissions: { relayers: {}, kv: true, ...wanted } };
  return [
    ...(env.length > 0 ? [`reads environment variables that are not granted: ${env.join(', ')}`] : []),
    ...(hosts.length > 0 ? [`names hosts that it may not fetch from: ${hosts.join(', ')}`] : []),
    entry.permissions === undefined
      ? `to grant this, add to "plugins" in config.json, with its relayers: ${JSON.stringify(pasted)}`
      : `to grant this, add to its permissions: ${JSON.stringify(wanted).slice(1, -1)}`,
  ];
}

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
export async function findTypeProblems(
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
