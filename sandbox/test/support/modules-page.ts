import { execFileSync } from 'node:child_process';
import { builtinModules, isBuiltin } from 'node:module';
import { GUEST_MODULES } from '../../contract.ts';
import { absentModuleAdvice } from '../../host/compiler/absent-modules.ts';
import type { GuestWorld } from './guest-isolate.ts';
import { compiled } from './guest-oracle.ts';
import { PluginFolder } from './plugin-folder.ts';

const HEAD = `# Node's modules in plugins

What plugins have of the modules of Node 26, with or without \`node:\`. A test holds what a plugin finds in a real isolate
against the names that each module of Node exports and the members behind these, but for those that begin with \`_\`; it
has both do the same as well, and compares what comes of it. The page is made by it, and held by it:
\`ISOLAYER_WRITE_PAGES=1 npm test -- sandbox/test/integration/node-modules.test.ts\`.

- \`complete\`: every name is there.
- \`part\`: what is named is missing, and what throws says so when it is called. \`Name\` *in part* lacks more members than
  are listed here.
- \`stub\`: for packages alone, many of which import it and never call it. Its constants are there; each function throws,
  and says what to do instead. In a file of the plugin itself the import does not compile.
- \`empty\`: as a stub, without any name.

\`path.win32\` has the separators of Windows, and else does as \`path\`.

| module | state | what is missing, or what to do instead |
| --- | --- | --- |
`;

/** The most missing members of one name that are listed. If more are missing, the page only says so. */
const LISTED = 6;

/** Makes the page on Node's modules from what a plugin found of each. */
export function modulesPage(found: Readonly<Record<string, ModuleFinding>>): string {
  const rows = Object.entries(found).map(([name, finding]) => {
    const isProvided = GUEST_MODULES.some((known) => known === name);
    // Some modules exist only with the prefix `node:`.
    const shown = isBuiltin(name) ? name : `node:${name}`;
    return `| \`${shown}\` | ${isProvided ? providedRow(finding) : absentRow(name, finding)} |`;
  });
  return `${HEAD}${rows.join('\n')}\n`;
}

function providedRow({ missing, refusing }: ModuleFinding): string {
  const lacks = [
    ...(missing.length > 0 ? [`missing: ${listed(missing)}`] : []),
    ...(refusing.length > 0 ? [`throws: ${listed(refusing)}`] : []),
  ];
  return lacks.length === 0 ? 'complete | ' : `part | ${lacks.join('; ')}`;
}

function absentRow(name: string, { missing, refusing, working }: ModuleFinding): string {
  const hasFunctions = refusing.length + working.length > 0;
  return `${hasFunctions || missing.length === 0 ? 'stub' : 'empty'} | ${absentModuleAdvice(name)}`;
}

function listed(names: readonly string[]): string {
  const byName = Map.groupBy(names, (name) => name.split('.')[0] ?? '');
  return [...byName]
    .flatMap(([name, all]) => (all.length > LISTED ? [`\`${name}\` *in part*`] : all.map((one) => `\`${one}\``)))
    .join(', ');
}

/** Node's modules by their names without `node:`. Leaves out Node's internal modules. */
const NODE_MODULES = builtinModules
  .map((name) => name.replace(/^node:/, ''))
  .filter((name) => !name.startsWith('_'))
  .sort();

/** What a plugin finds of a Node module. */
interface ModuleFinding {
  /** Missing names; members are written as `Name.member`. */
  missing: string[];
  /** Functions that throw that they are not available. */
  refusing: string[];
  /** Functions that work. */
  working: string[];
}

/**
 * Runs in Node itself. Lists what it exports, and the members of the exports. Members of `process` depend on the
 * machine.
 */
const EXPORTED = `
const isPlain = (value) => [Object.prototype, null].includes(Object.getPrototypeOf(value));
const membersOf = (value, depth = 2) => {
  if (depth === 0 || value === null || Array.isArray(value) || !['object', 'function'].includes(typeof value)) return [];
  const inner = isPlain(value) ? Object.keys(value).flatMap((key) => membersOf(value[key], depth - 1).map((member) => key + '.' + member)) : [];
  const ofClass = Object.getOwnPropertyNames(value.prototype ?? {}).map((name) => 'prototype.' + name);
  return [...Object.keys(value), ...inner, ...ofClass].filter((path) => !/(^|[.])_|[.]constructor$|^withoutStackTrace$/.test(path));
};
const exported = {};
for (const name of NAMES) {
  const module = require('node:' + name);
  const keys = Object.keys(module).filter((key) => !key.startsWith('_') && module[key] !== undefined);
  exported[name] = keys.map((key) => [key, name === 'process' ? [] : membersOf(module[key])]);
}
process.stdout.write(JSON.stringify(exported));`;

/** Runs in a package of a plugin. Finds which of these names exist, and which throw that they are not available. */
const FOUND = `
const hasMember = (value, path) => {
  const [key, ...rest] = path.split('.');
  return Object(value) === value && key in value && (rest.length === 0 || hasMember(value[key], rest.join('.')));
};
const refuses = (call) => {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(() => {});
  } catch (error) {
    return error.code === 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
  }
  return false;
};
exports.find = () => Object.fromEntries(Object.entries(modules).map(([name, module]) => {
  const found = { missing: [], refusing: [], working: [] };
  for (const [key, members] of exported[name]) {
    if (!(key in module) || module[key] === Object.prototype[key]) {
      found.missing.push(key);
      continue;
    }
    const value = module[key];
    const isRefusing = typeof value === 'function' && name !== 'process' && refuses(value);
    if (isRefusing) found.refusing.push(key);
    else if (typeof value === 'function') found.working.push(key);
    if (!isRefusing) found.missing.push(...members.filter((path) => !hasMember(value, path)).map((path) => key + '.' + path));
  }
  // What a module lacks it also lacks where it has itself under a name: path.posix.
  const isTold = (path) => found.missing.some((other) => path.endsWith('.' + other) || path.startsWith(other + '.'));
  found.missing = found.missing.filter((path) => !isTold(path));
  return [name, found];
}));`;

/** Compares what plugins find of Node's modules with what this Node exports. */
export async function findExports(world: GuestWorld): Promise<Record<string, ModuleFinding>> {
  const script = `const NAMES = ${JSON.stringify(NODE_MODULES)};${EXPORTED}`;
  const exported = execFileSync(process.execPath, ['--no-warnings', '-e', script], { encoding: 'utf8' });
  const modules = NODE_MODULES.map((name) => `${JSON.stringify(name)}: require('node:${name}')`).join(', ');
  const folder = new PluginFolder({
    'node_modules/package/index.js': `const exported = ${exported}, modules = { ${modules} };${FOUND}`,
    'node_modules/package/package.json': '{}',
  });
  const plugin = await compiled(
    `import { find } from 'package'; export const handler = () => find();`,
    'tested.ts',
    folder,
  );
  const { outcome } = world.call(plugin);
  if (outcome?.kind !== 'returned') throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.json) as Record<string, ModuleFinding>;
}
