import { join } from 'node:path';
import { type Death, type DriverMessage, PROTOCOL_VERSION } from '../../sandbox/protocol.ts';
import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { PluginEntry } from '../domain/plugin.ts';
import type { Log } from '../observability/log.ts';
import { Admission } from './admission.ts';
import { CallFeed } from './call-feed.ts';
import { CallLog } from './call-log.ts';
import { RunningCalls } from './call-record.ts';
import { CallRunner } from './call-runner.ts';
import { bindCapabilities } from './capabilities/table.ts';
import { Catalog, pluginsRoot } from './catalog/catalog.ts';
import type { WatchTiming } from './catalog/folder-watch.ts';
import type { CatalogPlugin, KnownPlugin } from './catalog/known-plugin.ts';
import { PluginViews } from './catalog/plugin-view.ts';
import { stateOf } from './catalog/version-swap.ts';
import { nativeAddon } from './compiler/child-program.ts';
import { type Compiler, createCompiler } from './compiler/compiler.ts';
import { sandboxTexts } from './compiler/sandbox-texts.ts';
import { FairStart } from './fair-start.ts';
import { Gateway } from './gateway.ts';
import type { PluginHost, PluginStatus, PluginSurroundings, ProcessUse } from './plugin-host.ts';
import type { PluginMetrics } from './plugin-metrics.ts';
import { createOrphans, killProcess, type Orphans, systemStartTime } from './processes/orphans.ts';
import { createDriverPool, type DriverPool } from './processes/pool.ts';
import { Quarantine } from './processes/quarantine.ts';
import type { SandboxProcess } from './processes/sandbox-process.ts';
import { type Closed, SandboxProcesses } from './processes/sandbox-processes.ts';
import { UsageLedger } from './processes/usage.ts';

export interface PluginHostDeps {
  /** The `plugins` of the configuration as it is at the start. */
  entries: readonly PluginEntry[];
  pluginsDir: string;
  /** Absolute path of `sandbox/`. */
  sandboxDir: string;
  /** Where to record children that the system would not end with the server. Absent: nowhere. */
  dataDir?: string;
  /** The server's environment. A plugin sees only the entries that it was granted. */
  environment: (name: string) => string | undefined;
  log: Log;
  metrics: PluginMetrics;
  clock: Clock;
  /** A fresh UUID. */
  uuid: () => string;
  maxProcesses: number;
  /** The most driver threads. The first one starts at once, the others as children need them. */
  mostThreads: number;
  /** For tests: another driver, a shorter life of idle children, a faster watch. */
  driverFile?: string;
  idleMs?: number;
  compileMs?: number;
  watch?: WatchTiming;
}

/** What a host prepares before it knows the services. Absent when the host is closing. */
interface Prepared {
  /** The plugins folder, without symbolic links. */
  root: string;
  compiler: Compiler;
  /** The first of the driver threads, which starts the spare process. */
  thread: Promise<DriverPool>;
}

/** The culprit of a process death that no call caused. */
const NO_CALL = 0;
/** How many relayers are compared with a misspelt one. */
const MAX_NEAR = 200;
/** How long a child without a call is kept. */
const IDLE_MS = 60_000;
/** How often queues and idle children are looked at. */
const TICK_MS = 250;
/** How long a start waits for plugins to be compiled. */
const COMPILE_MS = 10_000;
/** How long a start waits for the first child, and a stop for the last. */
const CHILD_MS = 10_000;
const LAST_CHILD_MS = 3000;

/** Wires catalog, pool, children, admission, gateway and quarantine into the one interface that the routes know. */
export function createPluginHost(deps: PluginHostDeps): PluginHost {
  const { log, clock, metrics } = deps;
  const calls = new RunningCalls();
  const quarantine = new Quarantine(clock);
  const callLog = new CallLog();
  const feed = new CallFeed();
  const fairStart = new FairStart(clock);
  const usage = new UsageLedger(clock);
  const orphans: Orphans | undefined =
    deps.dataDir === undefined ? undefined : createOrphans(deps.dataDir, systemStartTime, killProcess);

  let pool: DriverPool | undefined;
  let catalog: Catalog | undefined;
  let compiler: Compiler | undefined;
  let prepared: Promise<Prepared | undefined> | undefined;
  let gateway: Gateway | undefined;
  let views: PluginViews | undefined;
  let runner: CallRunner | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  const stopping = new AbortController();
  /** Read through a function, because `closing` may be set while `start` waits. */
  const ending = () => closing;
  /** Calls that have not ended, including those that wait for a place. */
  let underWay = 0;

  const children = new SandboxProcesses(
    {
      threads: () => pool?.threads() ?? [],
      moreThreads: () => pool?.grow(),
      post: (thread, message) => pool?.post(thread, message),
      clock,
      log,
      maxProcesses: deps.maxProcesses,
      idleMs: deps.idleMs ?? IDLE_MS,
    },
    {
      changed: () => admission.pump(),
      spawned,
      loaded: ({ pluginId }, version, failure) => catalog?.loaded(pluginId, version, failure) ?? true,
      dying,
      gone,
    },
  );
  const admission = new Admission(children, clock);

  function uses(): ProcessUse[] {
    return [...children.list()].map(({ pluginId, isolates, rssBytes }) => ({
      pluginId,
      isolates,
      residentBytes: rssBytes,
    }));
  }

  function spawned(child: SandboxProcess): void {
    if (children.confinement?.pdeathsig === true) return;
    orphans?.note(child.pids).catch((error: unknown) => log.warn({ err: error }, 'a sandbox process was not noted'));
  }

  function dying({ id, pluginId, version }: SandboxProcess, { cause, detail, culprit }: Death): void {
    if (cause === 'closed' || pluginId === '') return;
    const call = calls.find(id, culprit);
    const keyId = call?.callerKeyId;
    const by = call && { keyId: call.callerKeyId, request: call.fingerprint() };
    const { pluginMs: backOffMs, keyMs } = quarantine.killed(pluginId, `${cause}: ${detail}`, by);
    if (backOffMs > 0) log.error({ pluginId, cause, backOffMs }, 'a plugin is backed off');
    if (keyMs > 0) log.warn({ pluginId, cause, keyId, backOffMs: keyMs }, 'an API key is backed off for a plugin');
    // Such a module kills each process before it is loaded. It would kill one after another for the waiting calls.
    if (backOffMs > 0 && version === undefined) admission.sendAway(pluginId);
  }

  function gone(child: SandboxProcess, { cause, detail, stderr, culprit }: Closed, watched: boolean): void {
    if (!watched) for (const pid of child.pids) killProcess(pid);
    orphans?.forget(child.pids);
    const { pluginId } = child;
    // False when a call of the previous version was the culprit: the new version may have been written against it. Also
    // false when the host closed the child.
    const ofItself = watched && cause !== 'closed' && culprit === NO_CALL;
    if (child.loading !== undefined) catalog?.lost(pluginId, child.loading, ofItself);
    if (cause === 'closed') return;
    metrics.processKilled(pluginId, cause);
    if (pluginId !== '') log.warn({ pluginId, cause, detail, culprit, stderr }, 'a sandbox process was lost');
  }

  const counted: Pick<PluginMetrics, 'callEnded'> = {
    callEnded(pluginId, end, seconds, spent) {
      usage.add(pluginId, end, spent);
      metrics.callEnded(pluginId, end, seconds, spent);
    },
  };

  function heard(thread: number, message: DriverMessage): void {
    if (message.type !== 'request') {
      children.handle(message);
      return;
    }
    const { child, call } = message;
    fairStart.push(child, () => {
      gateway
        ?.answer(child, call, message.message)
        .then((reply) => pool?.post(thread, { type: 'reply', child, call, message: { id: message.message.id, reply } }))
        .catch((error: unknown) => log.error({ err: error }, 'a capability call was not answered'));
    });
  }

  function tick(): void {
    admission.tick();
    children.tick();
    metrics.load({ processes: children.size, running: calls.size, queued: admission.queued });
  }

  async function prepare(): Promise<Prepared | undefined> {
    const swept = (await orphans?.sweep()) ?? [];
    if (swept.length > 0) log.warn({ pids: swept }, 'ended sandbox processes that an earlier server left behind');
    const root = await pluginsRoot(deps.pluginsDir);
    if (ending() !== undefined) return undefined;
    compiler = createCompiler({ root, sandboxDir: deps.sandboxDir });
    const thread = startThread(compiler);
    // `start` reports the failure.
    thread.catch(() => undefined);
    return { root, compiler, thread };
  }

  async function startThread(compiler: Compiler): Promise<DriverPool> {
    // Starts before the builds of plugins: a plugin build that hangs would delay these texts.
    const texts = await sandboxTexts(compiler, deps.sandboxDir);
    pool = await createDriverPool(
      {
        filename: deps.driverFile ?? join(deps.sandboxDir, 'driver', 'driver.ts'),
        data: { protocol: PROTOCOL_VERSION, ...texts, addon: nativeAddon() },
        mostThreads: deps.mostThreads,
        log,
        stop: stopping.signal,
      },
      { threadReady: () => children.fill(0), message: heard, threadLost: (thread) => children.threadLost(thread) },
    );
    children.fill(0);
    return pool;
  }

  async function start({ services, books, settings }: PluginSurroundings): Promise<void> {
    const { effects } = services;
    const capabilities = bindCapabilities(services);
    gateway = new Gateway({
      capabilities,
      calls,
      effects,
      log,
      metrics,
      clock,
      uuid: deps.uuid,
      async relayerIds() {
        const { items } = await services.relayers.list({ page: 1, perPage: MAX_NEAR });
        return items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
      },
    });
    prepared ??= prepare();
    const ground = await prepared;
    if (ground === undefined) return;
    const watch = deps.watch === undefined ? {} : { watch: deps.watch };
    const plugins = new Catalog({
      ...watch,
      entries: deps.entries,
      root: ground.root,
      compiler: ground.compiler,
      environment: deps.environment,
      log,
      clock,
      tryOut: (version) => children.tryOut(version),
      // A new version clears the kills of the one before: its author may have fixed the cause.
      serves: (pluginId) => quarantine.forget(pluginId),
      gone: (pluginId) => callLog.forget(pluginId),
      ...(settings !== undefined && { settings }),
    });
    catalog = plugins;
    views = new PluginViews({
      books,
      plugins: () => plugins.list(),
      lastHour: (pluginId) => usage.lastHour(pluginId),
      uses: (pluginId) => uses().filter((use) => use.pluginId === pluginId),
      load: (pluginId) => admission.load(pluginId),
      backOff: (pluginId) => quarantine.backOff(pluginId),
      clock,
    });
    // The thread and the spare process start while the plugins are compiled.
    const [threads] = await Promise.all([ground.thread, plugins.start(deps.compileMs ?? COMPILE_MS)]);
    if (ending() !== undefined) return await ending();
    const late = plugins.list().filter((plugin) => stateOf(plugin) === 'compiling');
    if (late.length > 0) log.warn({ pluginIds: late.map(({ entry }) => entry.id) }, 'plugins are still being compiled');
    const plugin = (id: string) => plugins.get(id);
    runner = new CallRunner({
      pool: threads,
      admission,
      calls,
      quarantine,
      plugin,
      clock,
      log,
      metrics: counted,
      callLog,
      feed,
    });
    ticking = setInterval(tick, TICK_MS);
    await until(() => children.settled, CHILD_MS);
  }

  async function close(graceMs: number): Promise<void> {
    await until(() => underWay === 0, graceMs);
    admission.close();
    clearInterval(ticking);
    // No call needs a build any more. A build that hangs would delay the stop.
    await Promise.all([catalog?.close(), compiler?.close()]);
    await Promise.race([children.closeAll(), until(() => children.size === 0, LAST_CHILD_MS)]);
    for (const child of children.list()) for (const pid of child.pids) killProcess(pid);
    // The first thread may still be starting, which takes long on a busy machine: `pool` is not set then.
    stopping.abort();
    const threads = await prepared?.then((ground) => ground?.thread).catch(() => undefined);
    await threads?.close();
  }

  /** @throws AppError `PLUGIN_NOT_FOUND` */
  function known(pluginId: string): KnownPlugin {
    const plugin = catalog?.get(pluginId);
    if (plugin === undefined) throw new AppError('PLUGIN_NOT_FOUND', { id: pluginId });
    return plugin;
  }

  function started(): PluginViews {
    if (views === undefined) throw new Error('the plugin host has not been started');
    return views;
  }

  return {
    ended: feed,
    prepare() {
      prepared ??= prepare();
      // `start` reports the failure.
      prepared.catch(() => undefined);
    },
    start,
    async call(pluginId, request, signal) {
      const plugin = known(pluginId);
      if (runner === undefined) throw new AppError('PLUGIN_NOT_FOUND', { id: pluginId });
      if (plugin.isDisabled) throw new AppError('PLUGIN_DISABLED', { id: pluginId });
      if (request.method === 'GET' && !plugin.entry.allow_get_invocation) throw new AppError('PLUGIN_GET_DISABLED', {});
      underWay++;
      try {
        return await runner.run(plugin, request, signal);
      } finally {
        underWay--;
      }
    },
    status: () => ({
      threads: pool?.threads().length ?? 0,
      processes: children.size,
      running: calls.size,
      queued: admission.queued,
      uses: uses(),
      confinement: children.confinement,
      startFailure: children.stuck,
      plugins: (catalog?.list() ?? []).map((plugin) => statusOf(plugin, quarantine)),
    }),
    list: (page, among) => started().list(page, among),
    async get(pluginId) {
      const view = await started().get(pluginId);
      if (view === undefined) throw new AppError('PLUGIN_NOT_FOUND', { id: pluginId });
      return view;
    },
    declared: (pluginId) => known(pluginId).declared,
    async reload(pluginId) {
      known(pluginId);
      quarantine.forget(pluginId);
      await catalog?.reload(pluginId);
    },
    logs(pluginId, page) {
      known(pluginId);
      return callLog.list(pluginId, page);
    },
    applySettings: () => catalog?.applySettings(),
    declare: async (entries, changed) => await catalog?.declare(entries, changed),
    usage() {
      const plugins = catalog?.list() ?? [];
      const peaks = plugins.map(({ entry }) => [entry.id, usage.lastHour(entry.id).heapPeakBytes] as const);
      return { totals: usage.totals(), heapPeaks: new Map(peaks) };
    },
    close(graceMs) {
      closing ??= close(graceMs);
      return closing;
    },
  };
}

function statusOf({ entry, serving, failure }: CatalogPlugin, quarantine: Quarantine): PluginStatus {
  const version = serving?.version.version ?? null;
  const refused = quarantine.isRefusing(entry.id);
  const backOff = quarantine.backOff(entry.id);
  if (backOff !== undefined) return { id: entry.id, state: 'backing-off', reason: backOff.reason, version, refused };
  const state = stateOf({ serving, failure });
  const reason = state === 'compiling' ? 'it is still being compiled' : (failure?.message ?? null);
  return { id: entry.id, state, reason, version, refused };
}

/** Resolves when the condition holds, or after `ms`. */
async function until(condition: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
}
