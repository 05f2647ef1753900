import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import type { PluginVersion } from '../../sandbox/protocol.ts';
import type { PluginEntry } from '../domain/plugin.ts';
import type { Log } from '../observability/log.ts';
import type { CallingPlugin } from './call-record.ts';
import type { Bundle, Compiler } from './compiler.ts';
import { discoverPlugins } from './discovery.ts';
import { environmentReads } from './environment-use.ts';
import { type FolderWatch, type WatchTiming, watchFolders } from './folder-watch.ts';
import { grantsOf } from './grants.ts';
import type { HostFailure } from './outcome.ts';
import { findPluginFile } from './plugin-file.ts';
import { changedFiles, INSTALL_RECORD, type PluginTree, readPluginTree } from './plugin-tree.ts';
import type { SourcePositions } from './source-positions.ts';

/** A plugin as it stands now. */
export interface CatalogPlugin {
  readonly entry: PluginEntry;
  readonly caller: CallingPlugin;
  /** What calls run; absent when no version ever compiled. */
  serving: ServingVersion | undefined;
  /** Why the newest version does not serve. */
  failure: HostFailure | undefined;
}

export interface ServingVersion {
  version: PluginVersion;
  positions: SourcePositions;
  inputs: ReadonlySet<string>;
}

export interface CatalogDeps {
  entries: readonly PluginEntry[];
  /** The plugins folder, without symbolic links. */
  root: string;
  compiler: Compiler;
  environment: (name: string) => string | undefined;
  log: Log;
  watch?: WatchTiming;
}

const WATCH: WatchTiming = { debounceMs: 100, pollMs: 2000 };

/** Builds that run at once. */
const BUILDS = 4;

/**
 * The plugins and their serving versions. Follows the folder: what is new, changed or gone is picked up without a
 * restart, and a version that does not compile leaves the old one serving.
 */
export class Catalog {
  private readonly deps: CatalogDeps;
  private readonly plugins = new Map<string, CatalogPlugin>();
  private tree: PluginTree = { files: new Map(), folders: [] };
  private ignored = new Set<string>();
  private watch: FolderWatch | undefined;
  private reading: Promise<void> | undefined;
  private again = false;

  constructor(deps: CatalogDeps) {
    this.deps = deps;
  }

  get(id: string): CatalogPlugin | undefined {
    return this.plugins.get(id);
  }

  /** By id. */
  list(): CatalogPlugin[] {
    return [...this.plugins.values()].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
  }

  /** Compiles everything once and begins to follow the folder. */
  async start(): Promise<void> {
    this.watch = watchFolders(this.deps.watch ?? WATCH, () => void this.refresh());
    await this.refresh();
  }

  /** Stops following. A build that runs comes to its end. Safe to call twice. */
  async close(): Promise<void> {
    this.watch?.close();
    this.again = false;
    await this.reading;
  }

  /** Reads the folder and compiles what changed; one reading at a time. */
  async refresh(): Promise<void> {
    this.again = this.reading !== undefined;
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  private async readAll(): Promise<void> {
    do {
      this.again = false;
      try {
        await this.readOnce();
      } catch (error) {
        this.deps.log.error({ err: error }, 'Reading the plugins folder failed');
      }
    } while (this.again);
  }

  private async readOnce(): Promise<void> {
    const tree = await readPluginTree(this.deps.root);
    const changed = changedFiles(this.tree, tree);
    const first = this.tree.folders.length === 0 && this.plugins.size === 0;
    this.tree = tree;
    this.watch?.follow(tree.folders);
    if (changed.size === 0 && !first) return;

    const { entries, ignored } = discoverPlugins(this.deps.root, tree.files.keys(), this.deps.entries);
    this.reportIgnored(ignored);
    for (const id of [...this.plugins.keys()].filter((known) => !entries.some((entry) => entry.id === known))) {
      this.plugins.delete(id);
      this.deps.log.info({ pluginId: id }, 'A plugin is gone');
    }
    const stale = entries.filter((entry) => this.isStale(entry, changed));
    const build = async () => {
      for (let entry = stale.shift(); entry !== undefined; entry = stale.shift()) await this.compile(entry);
    };
    await Promise.all(Array.from({ length: BUILDS }, build));
  }

  /** A failed version may have failed for want of any file; the others know what they are made of. */
  private isStale(entry: PluginEntry, changed: ReadonlySet<string>): boolean {
    const known = this.plugins.get(entry.id);
    if (known === undefined || known.entry.path !== entry.path || known.failure !== undefined) return true;
    const inputs = known.serving?.inputs ?? new Set();
    const usesPackages = () => [...inputs].some((input) => input.includes(`${sep}node_modules${sep}`));
    return [...changed].some((file) => inputs.has(file) || (basename(file) === INSTALL_RECORD && usesPackages()));
  }

  private async compile(entry: PluginEntry): Promise<void> {
    const { log } = this.deps;
    const old = this.plugins.get(entry.id);
    const built = await this.build(entry);
    const serving = 'version' in built ? built : old?.serving;
    const failure = 'version' in built ? undefined : built;
    const { calls: maxCalls, kv_keys: keys, kv_bytes: bytes, kv_value_bytes: valueBytes } = entry.limits;
    const kvQuota = { keys, bytes, valueBytes };
    const caller = { id: entry.id, grants: grantsOf(entry), maxCalls, kvQuota, timeoutMs: entry.timeout * 1000 };
    this.plugins.set(entry.id, { entry, caller, serving, failure });

    if (failure === undefined) {
      log.info({ pluginId: entry.id, version: serving?.version.version }, 'A plugin is ready');
    } else if (failure.message !== old?.failure?.message) {
      const what = serving === undefined ? 'A plugin is broken' : 'A new version is broken, the old one keeps serving';
      log.error({ pluginId: entry.id, code: failure.code, reason: failure.message }, what);
    }
  }

  private async build(entry: PluginEntry): Promise<ServingVersion | HostFailure> {
    const source = await findPluginFile(this.deps.root, entry.id, entry.path);
    if ('status' in source) return source;
    const bundle = await this.deps.compiler.compile(entry.id, source);
    return 'status' in bundle ? bundle : this.version(entry, source.label, bundle);
  }

  private version(entry: PluginEntry, filename: string, { code, positions, inputs }: Bundle): ServingVersion {
    const env = grantsOf(entry).env(this.deps.environment);
    const missing = environmentReads(code).filter((name) => !(name in env));
    if (missing.length > 0) {
      const hint = `grant what it needs with permissions.env of its entry in config.json`;
      this.deps.log.warn(
        { pluginId: entry.id, missing, hint },
        'A plugin reads environment entries that it does not see',
      );
    }
    const parts = { pluginId: entry.id, code, filename, env, limits: entry.limits, isolation: entry.isolation };
    const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
    return { version: { ...parts, version: hash }, positions, inputs };
  }

  private reportIgnored(ignored: { file: string; reason: string }[]): void {
    for (const { file, reason } of ignored) {
      if (!this.ignored.has(file)) this.deps.log.warn({ file, reason }, 'A file in the plugins folder is no plugin');
    }
    this.ignored = new Set(ignored.map(({ file }) => file));
  }
}

/** The plugins folder without symbolic links; one that is missing counts as empty. */
export async function pluginsRoot(pluginsDir: string): Promise<string> {
  return realpath(pluginsDir).catch(() => pluginsDir);
}
