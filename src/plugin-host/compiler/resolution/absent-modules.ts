import { createRequire } from 'node:module';

/** Where the modules of Node lie that do nothing here. */
export const ABSENT = 'absent';

/** What a plugin does instead, by the first part of a module's name. */
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

/** Longest text of a module's own data that goes into a bundle, in characters: its constants do, its certificates do not. */
const DATA_CHARS = 8192;
/** Objects within objects: `fs.promises.constants`. */
const DEEPEST = 3;
/** What Node says are no names to be used yet, or no longer: it would warn of them. */
const UNSETTLED = /^_|^(?:ffi|sea|sqlite|test|wasi)\b/;

const load = createRequire(import.meta.url);

/** What an author is told who uses a module of Node that is not there. */
export function insteadOf(name: string): string {
  return INSTEAD[name.split('/')[0] ?? ''] ?? ELSE;
}

/**
 * A module that looks like one of Node's, with its constants, of which every function throws: packages import more than
 * they call.
 * @param name without `node:`
 */
export function absentText(name: string): string {
  const shape = shapeOf(exportsOf(name), DEEPEST);
  return `"use strict";
const name = ${JSON.stringify(name)}, instead = ${JSON.stringify(insteadOf(name))};
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

/** The real module, which says what there is to be imported; of one that cannot be had, nothing. */
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
    // What is Node's own business, where it keeps loaded files for instance, is not for others to see.
    const member = key.startsWith('_') ? undefined : memberOf(value as object, key);
    if (typeof member === 'function') return [[key, 'f', shapeOf(member, Math.min(depth - 1, 1))]];
    if (isData(member, DEEPEST)) return [[key, 'd', member]];
    if (Array.isArray(member)) return [[key, 'd', []]];
    return typeof member === 'object' && member !== null ? [[key, 'o', shapeOf(member, depth - 1)]] : [];
  });
}

/** What a getter gives is as good as any other; what it does on the way is nobody's here. */
function memberOf(object: object, key: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(object, key)?.value ?? (object as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** Whether a value is plain data through and through, not much of it, and no path of the machine. */
function isData(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !/[/\\]/.test(value);
  if (value === null || ['number', 'boolean'].includes(typeof value)) return true;
  if (typeof value !== 'object' || depth === 0) return false;
  const isPlain =
    Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  const isAllData = isPlain && Object.entries(value).every(([key, one]) => isData(key, 1) && isData(one, depth - 1));
  return isAllData && JSON.stringify(value).length <= DATA_CHARS;
}
