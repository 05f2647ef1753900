import { createHash } from 'node:crypto';
import { endCodeFailure, type HostFailure, RUN_PLUGIN } from '../../../../../sandbox/contract.ts';
import type { Bundle, Compiler, SourcePositions } from '../../../../../sandbox/host/sandbox.ts';
import type { Clock } from '../../../../domain/clock.ts';
import type { Log } from '../../../../observability/log.ts';
import type { PluginEntry } from '../../records/plugin.ts';
import { type PluginGrants, readPluginGrants } from '../capabilities/grants.ts';
import { findFetchHosts, hostRefusal, MAX_SHOWN_NAMES } from './fetch-hosts.ts';
import { findPluginFile } from './plugin-file.ts';
import type { Reads, ServingVersion } from './version-swap.ts';

export interface VersionBuildDeps {
  /** The plugins folder, without symbolic links. */
  root: string;
  compiler: Compiler;
  environment: (name: string) => string | undefined;
  log: Log;
  clock: Clock;
}

/**
 * Builds the current version of a plugin from its entry and files: a bundle with the environment that is granted to it.
 * Logs what the code uses without a grant. Never rejects.
 * @returns the version, or why there is none
 */
export async function buildVersion(deps: VersionBuildDeps, entry: PluginEntry): Promise<ServingVersion | HostFailure> {
  const { id, path } = entry;
  try {
    const source = await findPluginFile(deps.root, id, path);
    if ('status' in source) return source;
    const bundle = await deps.compiler.compile(id, source);
    if ('status' in bundle) return bundle;
    const version = versionOf(deps, entry, source.label, bundle);
    const exported = exportedInstead(bundle.code);
    if (exported === undefined) return version;
    if (!isOldForm(bundle.code)) return { ...version, unloadable: withoutHandler(id, source.label, exported) };
    deps.log.warn({ pluginId: id, hint: OLD_FORM }, 'a plugin has the old form');
    return { ...version, warning: OLD_FORM };
  } catch (error) {
    deps.log.error({ err: error, pluginId: id }, 'compiling a plugin failed');
    const message = 'Compilation failed: the service could not do it, and its log says why';
    return { ...endCodeFailure('COMPILE_ERROR', message), details: { pluginId: id, file: path } };
  }
}

function versionOf(
  deps: VersionBuildDeps,
  entry: PluginEntry,
  filename: string,
  { code, ...kept }: Bundle,
): ServingVersion {
  const grants = readPluginGrants(entry);
  const env = grants.env(deps.environment);
  const reads = { environment: findEnvironmentReads(code), ...findFetchHosts(code) };
  reportMissing(deps.log, entry.id, reads, env, grants);
  for (const change of builtInChanges(code, filename, kept.positions)) reportChange(deps.log, entry.id, change);
  const { lifetime: _, ...limits } = entry.limits;
  const parts = { pluginId: entry.id, code, filename, env, limits, isolation: entry.isolation };
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  return { ...kept, version: { ...parts, version: hash }, since: deps.clock.now(), reads };
}

const OLD_FORM = 'runPlugin(main) is the old form and still runs: export main as `handler` instead';

/** The most exports that are named when the handler is missing. */
const MAX_NAMES = 10;

function reportMissing(
  log: Log,
  pluginId: string,
  reads: Reads,
  env: Record<string, string>,
  { hosts }: PluginGrants,
): void {
  const missing = reads.environment.filter((name) => !(name in env));
  if (missing.length > 0) {
    const hint = `grant what it needs with permissions.env of its entry in config.json`;
    log.warn({ pluginId, missing, hint }, 'a plugin reads environment entries that it does not see');
  }
  const refused = reads.hosts.filter((host) => hostRefusal(host, hosts) !== undefined);
  if (refused.length > 0) {
    const hint = `grant what it needs with permissions.hosts of its entry in config.json`;
    log.warn({ pluginId, missing: refused, hint }, 'a plugin names hosts that it may not fetch from');
  }
}

function reportChange(log: Log, pluginId: string, { target, place }: BuiltInChange): void {
  const hint =
    'built-ins are frozen once the module has run: change it at the top of the module, or keep an own function';
  log.warn({ pluginId, target, place, hint }, 'a plugin changes a built-in when it is called, which does nothing');
}

/**
 * The failure of a file without a handler: it was cut off, exports its handler by another name, or is only for others
 * to import.
 */
function withoutHandler(pluginId: string, file: string, exported: readonly string[]): HostFailure {
  const exports = exported.length === 0 ? '' : `; it exports ${exported.slice(0, MAX_NAMES).join(', ')}`;
  const message = `Plugin must export a handler function${exports}`;
  const hint = 'export it as `handler`; the name of a file that others import begins with _ or lies in a folder';
  return { code: 'PLUGIN_ERROR', message, status: 500, details: { pluginId, file }, hint };
}

/** Names that bundled packages probe on every platform. Operators do not grant them. */
const PROBED = new Set(['NODE_ENV', 'NODE_DEBUG', 'DEBUG']);

const READ = /\bprocess\.env(?:\.([A-Za-z_]\w{0,255})(?!\w)|\[["']([A-Za-z_]\w{0,255})["']\])/g;

/**
 * The environment entries that a bundle reads by name, so that the operator learns which grants are missing. At most
 * one more than `MAX_SHOWN`.
 */
export function findEnvironmentReads(code: string): string[] {
  const names = new Set<string>();
  for (const [, dotted, quoted] of code.matchAll(READ)) {
    const name = dotted ?? quoted;
    if (name !== undefined && !PROBED.has(name)) names.add(name);
    if (names.size > MAX_SHOWN_NAMES) break;
  }
  return [...names].sort();
}

/** The comment with the file's path, which the bundler writes before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/;
/**
 * A statement at the top level of a module. The group tells whether it is a block: a block runs while the module is
 * loaded.
 */
const STATEMENT = /^ {2}(?! )((?:if|for|while|do|switch|try|\}|\{).*\{$)?/;
/**
 * An assignment to a built-in within a function or a block. An assignment further out runs while the module is loaded,
 * and has effect.
 */
const CHANGE =
  /^ {4,}(?:.*[\s;({])?((?:(?:Array|BigInt|Boolean|Date|Error|Function|Map|Number|Object|Promise|Set|String|Symbol)\.prototype|Array|Date|JSON|Math|Number|Object|Promise|Reflect)\.[A-Za-z_$][\w$]*) = /;
const STRICT = '(() => {"use strict";';
const MAX = 8;

/** An assignment to a built-in that is frozen by then. */
export interface BuiltInChange {
  /** The target of the assignment, for instance `Array.prototype.last`. */
  target: string;
  /** File, line and column in the author's code. */
  place: string;
}

/**
 * Finds assignments to built-ins in the author's own functions, in a bundle that is not strict because of a package.
 * Such an assignment does nothing. In a strict bundle it throws.
 */
export function builtInChanges(code: string, filename: string, positions: SourcePositions): BuiltInChange[] {
  if (code.slice(0, 1000).includes(STRICT)) return [];
  const found: BuiltInChange[] = [];
  let isAuthors = false;
  let isAtLoad = false;
  let number = 0;
  for (const line of code.split('\n')) {
    number += 1;
    const module = MODULE.exec(line)?.[1];
    if (module !== undefined) isAuthors = !module.includes('node_modules/');
    const statement = STATEMENT.exec(line);
    if (statement !== null) isAtLoad = statement[1] !== undefined;
    const target = isAuthors && !isAtLoad && line.length < 1000 ? CHANGE.exec(line)?.[1] : undefined;
    if (target === undefined) continue;
    const frame = positions.mapped(`    at ${filename}:${number}:${line.indexOf(target) + 1}`);
    found.push({ target, place: frame.trim().replace(/^at /, '') });
    if (found.length === MAX) break;
  }
  return found;
}

/** The last line of a bundle whose entry is an ES module. It names the object that holds the exports. */
const EXPORTS = /return __toCommonJS\((\w+)\);\s*\}\)\(\);\s*$/;

/** Whether a bundle without a `handler` has the reference's old form, which runs all the same: `runPlugin(main)`. */
function isOldForm(code: string): boolean {
  return code.includes(RUN_PLUGIN);
}

/**
 * The exports of a bundle that certainly has no `handler` among them, for instance because its source was cut off.
 * Undefined for every other bundle: when only a run could tell, `handler` counts as exported.
 */
export function exportedInstead(code: string): string[] | undefined {
  const name = EXPORTS.exec(code)?.[1];
  // The entry is CommonJS, or re-exports it: its exports may be anything.
  if (name === undefined || code.includes(`__reExport(${name},`)) return /\bhandler\b/.test(code) ? undefined : [];
  const from = code.indexOf(`__export(${name}, {`);
  const listed = from === -1 ? '' : code.slice(from, code.indexOf('});', from));
  const names = [...listed.matchAll(/[\s{]"?([\w$]+)"?: \(\) =>/g)].map(([, one = '']) => one);
  return names.includes('handler') ? undefined : names;
}
