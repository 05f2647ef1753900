import { createHash } from 'node:crypto';
import { type BuiltInChange, builtInChanges } from '../../../sandbox/host/compiler/built-in-changes.ts';
import type { Bundle, Compiler } from '../../../sandbox/host/compiler/compiler.ts';
import { exportedInstead, isOldForm } from '../../../sandbox/host/compiler/handler-export.ts';
import { ended, type HostFailure } from '../../../sandbox/host/surroundings.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PluginEntry } from '../../domain/plugin.ts';
import type { Log } from '../../observability/log.ts';
import { type Grants, grantsOf } from '../capabilities/grants.ts';
import { environmentReads } from './environment-use.ts';
import { hostRefusal, networkUse } from './network-use.ts';
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
    return { ...ended('COMPILE_ERROR', message), details: { pluginId: id, file: path } };
  }
}

function versionOf(
  deps: VersionBuildDeps,
  entry: PluginEntry,
  filename: string,
  { code, ...kept }: Bundle,
): ServingVersion {
  const grants = grantsOf(entry);
  const env = grants.env(deps.environment);
  const reads = { environment: environmentReads(code), ...networkUse(code) };
  reportMissing(deps.log, entry.id, reads, env, grants);
  for (const change of builtInChanges(code, filename, kept.positions)) reportChange(deps.log, entry.id, change);
  const parts = { pluginId: entry.id, code, filename, env, limits: entry.limits, isolation: entry.isolation };
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  return { ...kept, version: { ...parts, version: hash }, since: deps.clock.now(), reads };
}

const OLD_FORM = 'runPlugin(main) is the old form and still runs: export main as `handler` instead';

/** The most exports that are named when the handler is missing. */
const MAX_NAMES = 10;

function reportMissing(log: Log, pluginId: string, reads: Reads, env: Record<string, string>, { hosts }: Grants): void {
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
  const told = exported.length === 0 ? '' : `; it exports ${exported.slice(0, MAX_NAMES).join(', ')}`;
  const message = `Plugin must export a handler function${told}`;
  const hint = 'export it as `handler`; the name of a file that others import begins with _ or lies in a folder';
  return { code: 'PLUGIN_ERROR', message, status: 500, details: { pluginId, file }, hint };
}
