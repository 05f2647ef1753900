import { execFileSync } from 'node:child_process';
import { builtinModules } from 'node:module';
import type { GuestWorld } from '../guest-isolate.ts';
import { compiled } from '../guest-oracle.ts';
import { PluginFolder } from '../plugin-host.ts';

/** Node's modules by their names without `node:`. Leaves out Node's internal modules. */
const NODE_MODULES = builtinModules
  .map((name) => name.replace(/^node:/, ''))
  .filter((name) => !name.startsWith('_'))
  .sort();

/** What a plugin finds of a Node module. */
export interface ModuleFinding {
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
