import { realpath } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import type { LoadFailure, PluginVersion } from '../../../sandbox/protocol.ts';
import { inTime } from '../../domain/in-time.ts';
import type { PluginEntry } from '../../domain/plugin.ts';
import type { StoredPlugin } from '../../domain/settings/plugin-settings.ts';
import { uncaughtError } from '../forwarded-logs.ts';
import type { HostFailure } from '../outcome.ts';
import { BuildPlaces } from './build-places.ts';
import { BundleRoom } from './bundle-room.ts';
import { discoverPlugins, packageMains } from './discovery.ts';
import { type FolderWatch, type WatchTiming, watchFolders } from './folder-watch.ts';
import { KnownPlugin } from './known-plugin.ts';
import { changedFiles, INSTALL_RECORD, type PluginTree, readPluginTree, settledTree } from './plugin-tree.ts';
import { buildVersion, type VersionBuildDeps } from './version-build.ts';
import { type ServingVersion, stateOf, VersionSwap } from './version-swap.ts';

export interface CatalogDeps extends VersionBuildDeps {
  entries: readonly PluginEntry[];
  /** Has the processes of the version's plugin load it; false when it has none. */
  tryOut: (version: PluginVersion) => boolean;
  /** What clients made of a plugin. */
  settings?: (pluginId: string) => StoredPlugin | undefined;
  /** Another version begins to serve. */
  serves?: (pluginId: string) => void;
  /** A plugin is there no more. */
  gone?: (pluginId: string) => void;
  watch?: WatchTiming;
  /** How long a build may keep others waiting, in milliseconds. */
  placeMs?: number;
  /** The bundles of all plugins together, in bytes. */
  mostBytes?: number;
}

const WATCH: WatchTiming = { debounceMs: 100, pollMs: 2000 };

/** How long a dropped-in plugin whose file is gone serves on: editors and deployments take files away and back. */
const GONE_MS = 2000;

/** What a plugin may be made of. */
const SOURCE = /\.([cm]?[jt]sx?|json)$/;

/** Builds that run at once, without those that have taken so long that others no longer wait for them. */
const BUILDS = 4;
const PLACE_MS = 3000;

/**
 * The plugins and their serving versions. Follows the folder: what is new, changed or gone is picked up without a
 * restart, and a version that does not compile leaves the old one serving.
 */
export class Catalog {
  private readonly deps: CatalogDeps;
  private entries: readonly PluginEntry[];
  private readonly plugins = new Map<string, KnownPlugin>();
  private readonly places: BuildPlaces;
  private readonly room: BundleRoom;
  /** By plugin, the builds that nobody waits for any more. */
  private readonly slow = new Map<string, Promise<void>>();
  /** Of those, whose files have changed since. */
  private readonly outdated = new Set<string>();
  private tree: PluginTree = { files: new Map(), folders: [] };
  private ignored = new Set<string>();
  private watch: FolderWatch | undefined;
  private reading: Promise<void> | undefined;
  private again = false;
  /** Whose files changed while they were built. */
  private unsettled = new Set<string>();
  /** Dropped-in plugins whose files are gone, with the moment on the clock's `elapsed`. */
  private readonly missing = new Map<string, number>();
  private closed = false;
  /** Resolves when all plugins are known, and their first builds begin. */
  private readonly found = Promise.withResolvers<void>();
  private lookAgain: NodeJS.Timeout | undefined;

  constructor(deps: CatalogDeps) {
    this.deps = deps;
    this.entries = deps.entries;
    this.places = new BuildPlaces(BUILDS, deps.placeMs ?? PLACE_MS);
    this.room = new BundleRoom(deps.mostBytes);
  }

  get(id: string): KnownPlugin | undefined {
    return this.plugins.get(id);
  }

  /** By id. */
  list(): KnownPlugin[] {
    return [...this.plugins.values()].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
  }

  /**
   * Compiles everything once and begins to follow the folder.
   * @param patienceMs how long it waits for the builds in all; those that take longer go on
   */
  async start(patienceMs: number): Promise<void> {
    this.watch = watchFolders(this.deps.watch ?? WATCH, () => void this.refresh());
    const compiled = this.refresh().then(() => this.slowOnes());
    await Promise.race([compiled, this.found.promise]);
    await inTime(patienceMs, compiled);
  }

  /** Stops following. What a build that runs comes to changes nothing any more. Safe to call twice. */
  async close(): Promise<void> {
    this.closed = true;
    this.watch?.close();
    clearTimeout(this.lookAgain);
    this.again = false;
    await this.reading;
    await this.slowOnes();
  }

  /**
   * What a process found when it loaded a version.
   * @returns whether calls are to meet that version, and its failure, in that process
   */
  loaded(pluginId: string, version: string, failure: LoadFailure | null): boolean {
    const versions = this.plugins.get(pluginId)?.versions;
    if (versions === undefined) return true;
    const { serving, failure: refused } = versions;
    const meets = versions.loaded(version, failure, this.deps.clock.now());
    this.reportChange(pluginId, versions, { serving, failure: refused });
    return meets;
  }

  /** A process ended while it loaded a version, of itself or of a call of the one before, see {@link VersionSwap}. */
  lost(pluginId: string, version: string, ofItself: boolean): void {
    const versions = this.plugins.get(pluginId)?.versions;
    if (versions === undefined || this.closed) return;
    const { serving, failure } = versions;
    versions.lost(version, ofItself, this.deps.tryOut, this.deps.clock.now());
    this.reportChange(pluginId, versions, { serving, failure });
  }

  /** Goes by what clients have made of plugins by now; calls that run end as they began. */
  applySettings(): void {
    for (const { declared, versions } of this.plugins.values()) this.know(declared, versions);
  }

  /**
   * Goes by other entries from now on, and builds what they make of the plugins that have changed.
   * @param changed the ids of those that are new, not what they were, or there no more
   */
  async declare(entries: readonly PluginEntry[], changed: ReadonlySet<string>): Promise<void> {
    this.entries = entries;
    for (const id of changed) this.unsettled.add(id);
    for (const entry of entries) {
      const known = this.plugins.get(entry.id);
      // What it may do is less at once, whatever its build comes to.
      if (known !== undefined && changed.has(entry.id)) this.know(entry, known.versions);
    }
    await this.refresh();
  }

  /** Compiles a plugin anew, whether its files have changed or not. Resolves when that is done, or takes long. */
  async reload(id: string): Promise<void> {
    this.unsettled.add(id);
    await this.refresh();
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
        this.deps.log.error({ err: error }, 'reading the plugins folder failed');
      }
    } while (this.again && !this.closed);
  }

  private async readOnce(): Promise<void> {
    const first = this.tree.folders.length === 0 && this.plugins.size === 0;
    const { debounceMs } = this.deps.watch ?? WATCH;
    const read = await readPluginTree(this.deps.root);
    const hasChanged = !first && changedFiles(this.tree, read).size > 0;
    const tree = hasChanged ? await settledTree(this.deps.root, read, debounceMs, () => this.closed) : read;
    const changed = changedFiles(this.tree, tree);
    this.tree = tree;
    this.watch?.follow(tree.folders);
    if (changed.size === 0 && !first && this.unsettled.size === 0 && this.missing.size === 0) return;

    const { root } = this.deps;
    const mains = await packageMains(root, tree.files.keys());
    const { entries, ignored } = discoverPlugins(root, tree.files.keys(), this.entries, mains);
    this.reportIgnored(ignored);
    this.dropMissing(new Set(entries.map(({ id }) => id)));
    const { unsettled } = this;
    this.unsettled = new Set();
    const stale = entries.filter((entry) => unsettled.has(entry.id) || this.isStale(entry, changed));
    for (const entry of stale) {
      if (!this.plugins.has(entry.id)) this.know(entry, new VersionSwap());
    }
    this.found.resolve();
    await Promise.all(stale.map((entry) => this.compileInTurn(entry)));
  }

  private know(declared: PluginEntry, versions: VersionSwap): void {
    this.plugins.set(declared.id, new KnownPlugin(declared, versions, this.deps.settings?.(declared.id)));
  }

  /** Resolves when the plugin is compiled, or that takes so long that the others are not to wait for it. */
  private async compileInTurn(entry: PluginEntry): Promise<void> {
    const { id } = entry;
    if (this.slow.has(id)) {
      this.outdated.add(id);
      return await this.deps.compiler.filesChanged(id);
    }
    const slow = await this.places.take(async () => {
      if (!this.closed) await this.compile(entry);
    });
    if (slow === undefined) return;
    const rest = slow.rest
      .catch((error: unknown) => this.deps.log.error({ err: error, pluginId: id }, 'compiling a plugin failed'))
      .then(() => {
        this.slow.delete(id);
        if (this.outdated.delete(id)) this.unsettled.add(id);
        if (this.unsettled.has(id) && !this.closed) void this.refresh();
      });
    this.slow.set(id, rest);
  }

  /** Resolves when those are compiled, too, that take so long that the others do not wait for them. */
  async slowOnes(): Promise<void> {
    await Promise.all(this.slow.values());
  }

  private dropMissing(found: ReadonlySet<string>): void {
    const now = this.deps.clock.elapsed();
    for (const id of [...this.plugins.keys(), ...this.missing.keys()]) {
      if (found.has(id) || !this.plugins.has(id)) this.missing.delete(id);
      else if (!this.missing.has(id)) this.missing.set(id, now);
      else if (now - (this.missing.get(id) ?? now) >= GONE_MS) {
        this.plugins.delete(id);
        this.missing.delete(id);
        this.deps.gone?.(id);
        this.deps.log.info({ pluginId: id }, 'a plugin is gone');
      }
    }
    clearTimeout(this.lookAgain);
    if (this.missing.size > 0 && !this.closed) this.lookAgain = setTimeout(() => void this.refresh(), GONE_MS).unref();
  }

  /** A failed version may have failed for want of any file; the others know what they are made of. */
  private isStale(entry: PluginEntry, changed: ReadonlySet<string>): boolean {
    const known = this.plugins.get(entry.id);
    if (known === undefined || known.entry.path !== entry.path) return true;
    const { newest, failure } = known.versions;
    const crowdedOut = this.room.filesOfRefused(entry.id, this.bytesBeside(known.versions));
    if (crowdedOut !== undefined) return isAffected(crowdedOut, changed);
    return newest === undefined || failure !== undefined || isAffected(newest.inputs, changed);
  }

  /** What the bundles of the other plugins take. */
  private bytesBeside(own: VersionSwap): number {
    return [...this.plugins.values()].reduce((sum, { versions }) => sum + versions.bytes, -own.bytes);
  }

  private async compile(entry: PluginEntry): Promise<void> {
    const { clock, tryOut } = this.deps;
    const built = await buildVersion(this.deps, entry);
    const versions = this.plugins.get(entry.id)?.versions;
    // It may be gone, after a build that took long.
    if (this.closed || versions === undefined) return;
    if (this.isRedeclared(entry) || (versions.serving !== undefined && (await this.changedMeanwhile(built)))) {
      this.unsettled.add(entry.id);
      this.again = true;
      return;
    }
    this.know(entry, versions);

    const refused = versions.failure;
    this.room.forget(entry.id);
    const failure = 'version' in built ? this.refusal(built, versions) : built;
    if (failure !== undefined) versions.broken(failure, clock.now());
    else if ('version' in built) versions.built(built, tryOut);
    if (versions.failure === undefined && versions.newest === versions.serving) this.reportReady(entry.id, versions);
    else if (versions.failure?.message !== refused?.message) this.reportBroken(entry.id, versions);
  }

  /** Whether the configuration says something else of it by now than it was built from. */
  private isRedeclared(entry: PluginEntry): boolean {
    const declared = this.entries.find(({ id }) => id === entry.id);
    return declared !== undefined && JSON.stringify(declared) !== JSON.stringify(entry);
  }

  /** Why a version that was built is not to serve. */
  private refusal(built: ServingVersion, versions: VersionSwap): HostFailure | undefined {
    const unloadable = versions.serving === undefined ? undefined : built.unloadable;
    return unloadable ?? this.room.refusal(built, this.bytesBeside(versions));
  }

  private reportChange(
    pluginId: string,
    versions: VersionSwap,
    before: Pick<VersionSwap, 'serving' | 'failure'>,
  ): void {
    const { serving, failure } = versions;
    const isMended = before.failure !== undefined && failure === undefined;
    if (isMended || (serving !== before.serving && failure === undefined)) this.reportReady(pluginId, versions);
    if (failure?.message !== before.failure?.message) this.reportBroken(pluginId, versions);
  }

  private reportReady(pluginId: string, { serving }: VersionSwap): void {
    this.deps.log.info({ pluginId, version: serving?.version.version }, 'a plugin is ready');
    this.deps.serves?.(pluginId);
  }

  private reportBroken(pluginId: string, versions: VersionSwap): void {
    const { failure } = versions;
    if (failure === undefined) return;
    const isBroken = stateOf(versions) === 'broken';
    const what = isBroken ? 'a plugin is broken' : 'a new version is broken, the old one keeps serving';
    const { code, message: reason, hint, report = '' } = failure;
    this.deps.log.error({ pluginId, code, reason, hint, ...(report !== '' && { err: uncaughtError(report) }) }, what);
  }

  /** Whether what was just built is of yesterday, or a mixture: the next reading builds it again. */
  private async changedMeanwhile(built: ServingVersion | HostFailure): Promise<boolean> {
    const changed = changedFiles(this.tree, await readPluginTree(this.deps.root));
    const isInput = (file: string) => ('version' in built ? built.inputs.has(file) : SOURCE.test(file));
    return [...changed].some(isInput);
  }

  private reportIgnored(ignored: { file: string; reason: string }[]): void {
    for (const { file, reason } of ignored) {
      if (!this.ignored.has(file)) this.deps.log.warn({ file, reason }, 'a file in the plugins folder is no plugin');
    }
    this.ignored = new Set(ignored.map(({ file }) => file));
  }
}

function isAffected(inputs: ReadonlySet<string>, changed: ReadonlySet<string>): boolean {
  const usesPackages = () => [...inputs].some((input) => input.includes(`${sep}node_modules${sep}`));
  return [...changed].some((file) => inputs.has(file) || (basename(file) === INSTALL_RECORD && usesPackages()));
}

/** The plugins folder without symbolic links; one that is missing counts as empty. */
export async function pluginsRoot(pluginsDir: string): Promise<string> {
  return realpath(pluginsDir).catch(() => pluginsDir);
}
