import { realpath } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import type { HostFailure, LoadFailure, PluginVersion } from '../../../../../sandbox/contract.ts';
import { withTimeout } from '../../../../domain/with-timeout.ts';
import type { PluginEntry } from '../../records/plugin.ts';
import type { StoredPlugin } from '../../records/plugin-settings.ts';
import { uncaughtError } from '../forwarded-logs.ts';
import {
  changedFiles,
  discoverPlugins,
  findPackageMains,
  INSTALL_RECORD,
  type PluginTree,
  readPluginTree,
  settledTree,
} from './discovery.ts';
import { type FolderWatch, type WatchTiming, watchFolders } from './folder-watch.ts';
import { KnownPlugin } from './known-plugin.ts';
import { buildVersion, type VersionBuildDeps } from './version-build.ts';
import { type ServingVersion, stateOf, VersionSwap } from './version-swap.ts';

export interface PluginCatalogDeps extends VersionBuildDeps {
  entries: readonly PluginEntry[];
  /** Makes the processes of the version's plugin load it. False when the plugin has no process. */
  tryOut: (version: PluginVersion) => boolean;
  /** The settings that clients have stored for a plugin. */
  settings?: (pluginId: string) => StoredPlugin | undefined;
  /** Called when another version begins to serve. */
  serves?: (pluginId: string) => void;
  /** Called when a plugin is gone. */
  gone?: (pluginId: string) => void;
  watch?: WatchTiming;
  /** How long a build may keep others waiting, in milliseconds. */
  placeMs?: number;
  /** The most bytes that the bundles of all plugins may take together. */
  mostBytes?: number;
}

const WATCH: WatchTiming = { debounceMs: 100, pollMs: 2000 };

/**
 * How long a dropped-in plugin still serves after its file is gone, in ms. Editors and deployments remove files for a
 * moment.
 */
const GONE_MS = 2000;

/** Names of files that a plugin may be made of. */
const SOURCE = /\.([cm]?[jt]sx?|json)$/;

/**
 * The most builds that run at once. A build that takes longer than `PLACE_MS` no longer counts: the others do not wait
 * for it.
 */
const BUILDS = 4;
const PLACE_MS = 3000;

/**
 * The plugins and their serving versions. Watches the folder: a new, changed or removed file takes effect without a
 * restart. When a version does not compile, the old version keeps serving.
 */
export class PluginCatalog {
  private readonly deps: PluginCatalogDeps;
  private entries: readonly PluginEntry[];
  private readonly plugins = new Map<string, KnownPlugin>();
  private readonly places: FairWorkLimit;
  private readonly room: BundleSizeLimit;
  /** The slow builds, by plugin id. No other build waits for them. */
  private readonly slow = new Map<string, Promise<void>>();
  /** The plugins with a slow build whose files have changed since it began. */
  private readonly outdated = new Set<string>();
  private tree: PluginTree = { files: new Map(), folders: [] };
  private ignored = new Set<string>();
  private watch: FolderWatch | undefined;
  private reading: Promise<void> | undefined;
  private again = false;
  /** The plugins that the next reading builds in any case, for instance because their files changed during a build. */
  private unsettled = new Set<string>();
  /** Plugins that are no longer found, with the moment when that was noticed, on the clock's `elapsed`. */
  private readonly missing = new Map<string, number>();
  private closed = false;
  /** Resolves when all plugins are known, and their first builds begin. */
  private readonly found = Promise.withResolvers<void>();
  private lookAgain: NodeJS.Timeout | undefined;

  constructor(deps: PluginCatalogDeps) {
    this.deps = deps;
    this.entries = deps.entries;
    this.places = new FairWorkLimit(BUILDS, deps.placeMs ?? PLACE_MS);
    this.room = new BundleSizeLimit(deps.mostBytes);
  }

  get(id: string): KnownPlugin | undefined {
    return this.plugins.get(id);
  }

  /** All plugins, sorted by id. */
  list(): KnownPlugin[] {
    return [...this.plugins.values()].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
  }

  /**
   * Compiles everything once and begins to follow the folder.
   * @param patienceMs how long to wait for all builds together; slower builds go on
   */
  async start(patienceMs: number): Promise<void> {
    this.watch = watchFolders(this.deps.watch ?? WATCH, () => void this.refresh());
    const compiled = this.refresh().then(() => this.slowOnes());
    await Promise.race([compiled, this.found.promise]);
    await withTimeout(patienceMs, compiled);
  }

  /** Stops watching. The results of running builds are ignored from now on. Safe to call twice. */
  async close(): Promise<void> {
    this.closed = true;
    this.watch?.close();
    clearTimeout(this.lookAgain);
    this.again = false;
    await this.reading;
    await this.slowOnes();
  }

  /**
   * Notes that a process has loaded a version, or could not.
   * @returns whether the process's calls use that version, with its failure if it has one
   */
  loaded(pluginId: string, version: string, failure: LoadFailure | null): boolean {
    const versions = this.plugins.get(pluginId)?.versions;
    if (versions === undefined) return true;
    const { serving, failure: refused } = versions;
    const meets = versions.loaded(version, failure, this.deps.clock.now());
    this.reportChange(pluginId, versions, { serving, failure: refused });
    return meets;
  }

  /**
   * Notes that a process ended while it loaded a version. `ofItself` is false when a call of the version before ended
   * it, see {@link VersionSwap}.
   */
  lost(pluginId: string, version: string, ofItself: boolean): void {
    const versions = this.plugins.get(pluginId)?.versions;
    if (versions === undefined || this.closed) return;
    const { serving, failure } = versions;
    versions.lost(version, ofItself, this.deps.tryOut, this.deps.clock.now());
    this.reportChange(pluginId, versions, { serving, failure });
  }

  /** Applies the settings that clients have stored. Running calls keep the settings with which they began. */
  applySettings(): void {
    for (const { declared, versions } of this.plugins.values()) this.know(declared, versions);
  }

  /**
   * Replaces the declared entries, and builds the plugins that have changed.
   * @param changed the ids of entries that are new, changed or removed
   */
  async declare(entries: readonly PluginEntry[], changed: ReadonlySet<string>): Promise<void> {
    this.entries = entries;
    for (const id of changed) this.unsettled.add(id);
    for (const entry of entries) {
      const known = this.plugins.get(entry.id);
      // Reduced permissions apply at once, whatever comes of the build.
      if (known !== undefined && changed.has(entry.id)) this.know(entry, known.versions);
    }
    await this.refresh();
  }

  /** Compiles a plugin again, even when its files have not changed. Resolves when that is done, or takes long. */
  async reload(id: string): Promise<void> {
    this.unsettled.add(id);
    await this.refresh();
  }

  /** Reads the folder and compiles the plugins that changed. Only one reading runs at a time. */
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
    const mains = await findPackageMains(root, tree.files.keys());
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

  /** Resolves when the plugin is compiled, or when its build takes so long that other builds no longer wait for it. */
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

  /** Resolves when the slow builds are done, too. */
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
        this.deps.log.info({ pluginId: id }, 'a plugin was removed');
      }
    }
    clearTimeout(this.lookAgain);
    if (this.missing.size > 0 && !this.closed) this.lookAgain = setTimeout(() => void this.refresh(), GONE_MS).unref();
  }

  /**
   * Whether a plugin must be built again. After a failure, any changed file may be the cure. Without one, only changed
   * inputs count.
   */
  private isStale(entry: PluginEntry, changed: ReadonlySet<string>): boolean {
    const known = this.plugins.get(entry.id);
    if (known === undefined || known.entry.path !== entry.path) return true;
    const { newest, failure } = known.versions;
    const crowdedOut = this.room.filesOfRefused(entry.id, this.bytesBeside(known.versions));
    if (crowdedOut !== undefined) return isAffected(crowdedOut, changed);
    return newest === undefined || failure !== undefined || isAffected(newest.inputs, changed);
  }

  /** The bytes that the bundles of the other plugins take. */
  private bytesBeside(own: VersionSwap): number {
    return [...this.plugins.values()].reduce((sum, { versions }) => sum + versions.bytes, -own.bytes);
  }

  private async compile(entry: PluginEntry): Promise<void> {
    const { clock, tryOut } = this.deps;
    const built = await buildVersion(this.deps, entry);
    const versions = this.plugins.get(entry.id)?.versions;
    // The plugin may have gone during a long build.
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

  /** Whether the configuration has changed the plugin's entry since the build began. */
  private isRedeclared(entry: PluginEntry): boolean {
    const declared = this.entries.find(({ id }) => id === entry.id);
    return declared !== undefined && JSON.stringify(declared) !== JSON.stringify(entry);
  }

  /** Why a version that was built must not serve. Undefined when it may. */
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

  /**
   * Whether files changed during the build, so that the bundle is outdated or a mixture. The next reading then builds
   * it again.
   */
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

/** The path of the plugins folder without symbolic links. A folder that is missing counts as empty. */
export async function pluginsRoot(pluginsDir: string): Promise<string> {
  return realpath(pluginsDir).catch(() => pluginsDir);
}

/** Limits how much work is done at once. Work that takes long gives its place to the next, and goes on. */
export class FairWorkLimit {
  private readonly patienceMs: number;
  private readonly waiting: (() => void)[] = [];
  private free: number;

  /** @param patienceMs how long work may keep its place */
  constructor(places: number, patienceMs: number) {
    this.free = places;
    this.patienceMs = patienceMs;
  }

  /**
   * Does the work once there is a place for it.
   * @returns the rest of the work when it has given up its place; undefined when the work has ended
   */
  async take(work: () => Promise<void>): Promise<{ rest: Promise<void> } | undefined> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const rest = work();
      const hasEnded = await withTimeout(
        this.patienceMs,
        rest.then(() => true),
      );
      return hasEnded === true ? undefined : { rest };
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}

/** The most bytes that the bundles and source maps of all plugins may take. The server keeps them in its memory. */
export const MAX_BUNDLES_BYTES = 256 * 1_048_576;

type Refused = Pick<ServingVersion, 'bytes' | 'inputs'>;

/** Limits the size of all plugins' bundles together. */
export class BundleSizeLimit {
  private readonly most: number;
  private readonly refused = new Map<string, Refused>();

  /** @param most in bytes */
  constructor(most = MAX_BUNDLES_BYTES) {
    this.most = most;
  }

  /**
   * Why there is no room for a version; undefined when there is room.
   * @param others the bytes that the bundles of the other plugins take
   */
  refusal({ version, bytes, inputs }: ServingVersion, others: number): HostFailure | undefined {
    const { pluginId, filename } = version;
    this.forget(pluginId);
    if (others + bytes <= this.most) return undefined;
    this.refused.set(pluginId, { bytes, inputs });
    const message = `The bundle of ${filename} has ${bytes} bytes with its source map, and those of the other plugins ${others}: together more than ${this.most}`;
    return { code: 'SIZE_LIMIT', message, status: 500, details: { pluginId, file: filename } };
  }

  /** The files of the version that was refused, as long as there still is no room for it. */
  filesOfRefused(pluginId: string, others: number): ReadonlySet<string> | undefined {
    const refused = this.refused.get(pluginId);
    return refused !== undefined && others + refused.bytes > this.most ? refused.inputs : undefined;
  }

  /** Forgets the refused version, because the plugin has a newer one. */
  forget(pluginId: string): void {
    this.refused.delete(pluginId);
  }
}
