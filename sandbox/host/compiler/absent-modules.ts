import { createRequire } from 'node:module';

/** The namespace of Node modules that do nothing here. */
export const ABSENT_NAMESPACE = 'absent';

/** The advice to a plugin's author, by the first part of a module's name. */
const INSTEAD: Readonly<Record<string, string>> = {
  fs: 'There are no files: import a .json or .txt file of the plugins folder, or keep values with context.kv',
  http: 'There are no sockets: use fetch, with the host in permissions.hosts',
  https: 'There are no sockets: use fetch, with the host in permissions.hosts',
  http2: 'There are no sockets: use fetch, with the host in permissions.hosts',
  net: 'There are no sockets: use fetch, with the host in permissions.hosts',
  tls: 'There are no sockets: use fetch, with the host in permissions.hosts',
  dgram: 'There are no sockets: use fetch, with the host in permissions.hosts',
  dns: 'Names are looked up by fetch alone, with the host in permissions.hosts',
  child_process: 'There are no other processes: do the work in the handler',
  cluster: 'There are no other processes: do the work in the handler',
  worker_threads: 'There are no threads: do the work in the handler; calls of a plugin run beside each other',
  zlib: 'Use CompressionStream and DecompressionStream',
  vm: 'The code of a plugin is one bundle: import what it needs',
  module: 'The code of a plugin is one bundle: import what it needs',
  sqlite: 'There are no files: keep values with context.kv',
};
const ELSE = 'A plugin runs without Node.js';

/**
 * The longest data of a module that goes into a bundle, in characters. A module's constants fit, its certificates do
 * not.
 */
const DATA_CHARS = 8192;
/** How deep objects within objects are copied, for instance `fs.promises.constants`. */
const DEEPEST = 3;
/** Modules that are not to be used yet, or no longer. Node would warn when they are loaded. */
const UNSETTLED = /^_|^(?:ffi|sea|sqlite|test|wasi)\b/;

const load = createRequire(import.meta.url);

/** The advice to an author who uses a Node module that is absent. */
export function absentModuleAdvice(name: string): string {
  return INSTEAD[name.split('/')[0] ?? ''] ?? ELSE;
}

/**
 * The text of a module that looks like a Node module and has its constants, but whose functions all throw. Packages
 * import more than they call.
 * @param name without `node:`
 */
export function absentModuleText(name: string): string {
  const shape = shapeOf(exportsOf(name), DEEPEST);
  return `"use strict";
const name = ${JSON.stringify(name)}, instead = ${JSON.stringify(absentModuleAdvice(name))};
const refuse = (path) => function () {
  throw Object.assign(new Error(path + " is not there in a plugin. " + instead), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });
};
const fill = (target, path, shape) => {
  for (const [key, kind, inner] of shape) {
    const at = path + "." + key;
    const value = kind === "f" ? Object.defineProperty(refuse(at), "name", { value: key, configurable: true }) : kind === "d" ? inner : {};
    Object.defineProperty(target, key, { value: kind === "d" ? value : fill(value, at, inner), writable: true, enumerable: true, configurable: true });
  }
  return target;
};
module.exports = fill(${typeof exportsOf(name) === 'function' ? 'refuse(name)' : '{}'}, name, ${JSON.stringify(shape)});
`;
}

/** The exports of the real module, which show what can be imported. Empty when the module cannot be loaded. */
function exportsOf(name: string): unknown {
  if (UNSETTLED.test(name)) return {};
  try {
    return load(`node:${name}`);
  } catch {
    return {};
  }
}

type Member = [key: string, kind: 'f' | 'o', inner: Member[]] | [key: string, kind: 'd', data: unknown];

function shapeOf(value: unknown, depth: number): Member[] {
  if (depth === 0) return [];
  return Object.keys(value as object).flatMap((key): Member[] => {
    // Leaves out Node's internal members, for instance the place where it keeps loaded files.
    const member = key.startsWith('_') ? undefined : memberOf(value as object, key);
    if (typeof member === 'function') return [[key, 'f', shapeOf(member, Math.min(depth - 1, 1))]];
    if (isData(member, DEEPEST)) return [[key, 'd', member]];
    if (Array.isArray(member)) return [[key, 'd', []]];
    return typeof member === 'object' && member !== null ? [[key, 'o', shapeOf(member, depth - 1)]] : [];
  });
}

/** The value of a member, also of one with a getter. Side effects of the getter do not matter here. */
function memberOf(object: object, key: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(object, key)?.value ?? (object as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** Whether a value is plain data at every level, is small, and contains no path of the machine. */
function isData(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !/[/\\]/.test(value);
  if (value === null || ['number', 'boolean'].includes(typeof value)) return true;
  if (typeof value !== 'object' || depth === 0) return false;
  const isPlain =
    Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  const isAllData = isPlain && Object.entries(value).every(([key, one]) => isData(key, 1) && isData(one, depth - 1));
  return isAllData && JSON.stringify(value).length <= DATA_CHARS;
}
