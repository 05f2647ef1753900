import type { ChildDeath } from '../../../../sandbox/contract.ts';
import {
  type Compiler,
  createSandbox,
  type Quarantine,
  type SandboxProcess,
  waitUntil,
} from '../../../../sandbox/host/sandbox.ts';
import type { Clock } from '../../../domain/clock.ts';
import { AppError } from '../../../domain/errors.ts';
import { writeJson } from '../../../domain/json/json-text.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import type { Log } from '../../../observability/log.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { callView } from '../../calls/calls.ts';
import { someRelayerIds } from '../../relayers/relayers.ts';
import { lifetimeOf, type PluginEntry } from '../records/plugin.ts';
import { CallFeed } from './call-feed.ts';
import { CallLog } from './call-log.ts';
import { RunningCalls } from './call-record.ts';
import { CallRunner } from './call-runner.ts';
import { bindCapabilities } from './capabilities/all-capabilities.ts';
import { PluginCatalog, pluginsRoot } from './catalog/catalog.ts';
import type { WatchTiming } from './catalog/folder-watch.ts';
import type { CatalogPlugin, KnownPlugin } from './catalog/known-plugin.ts';
import { PluginViews } from './catalog/plugin-view.ts';
import { stateOf } from './catalog/version-swap.ts';
import { DurableCalls } from './durable-calls.ts';
import { CapabilityGateway } from './gateway.ts';
import { answerOfEnding } from './outcome.ts';
import type { PluginAnswer, PluginHost, PluginRequest, PluginStatus, PluginSurroundings } from './plugin-host.ts';

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
  metrics: Metrics;
  clock: Clock;
  /** A fresh UUID. */
  uuid: () => string;
  /** A fresh seed of chance: 64 hex digits. */
  seed: () => string;
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
  /** The start of the first driver thread, which starts the spare process. */
  thread: Promise<void>;
}

/** How long a durable call waits for the first build of its plugin, in ms. */
const BUILD_WAIT_MS = 10_000;
/** How often queues and idle children are looked at. */
const TICK_MS = 250;
/** How long a start waits for plugins to be compiled. */
const COMPILE_MS = 10_000;
/** How long a start waits for the first child, and a stop for the last. */
const CHILD_MS = 10_000;
const LAST_CHILD_MS = 3000;

/** Wires catalog, sandbox, gateway and quarantine into the one interface that the routes know. */
export function createPluginHost(deps: PluginHostDeps): PluginHost {
  const { log, clock, metrics } = deps;
  const calls = new RunningCalls();
  const callLog = new CallLog();
  const feed = new CallFeed();

  let catalog: PluginCatalog | undefined;
  let prepared: Promise<Prepared | undefined> | undefined;
  let gateway: CapabilityGateway | undefined;
  let views: PluginViews | undefined;
  let runner: CallRunner | undefined;
  let durableCalls: DurableCalls | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  /** Read through a function, because `closing` may be set while `start` waits. */
  const ending = () => closing;
  /** Calls that have not ended, including those that wait for a place. */
  let underWay = 0;

  const sandbox = createSandbox({
    capabilities: async (child, call, request) => {
      if (gateway === undefined) throw new Error('the plugin host has not been started');
      return await gateway.answer(child, call, request);
    },
    on: {
      loaded: (pluginId, version, failure) => catalog?.loaded(pluginId, version, failure) ?? true,
      lost: (pluginId, version, ofItself) => catalog?.lost(pluginId, version, ofItself),
      dying,
      killed({ pluginId }, { cause, detail, stderr, culprit }) {
        metrics.count('plugin_process_ends', { plugin_id: pluginId, cause });
        if (pluginId !== '') log.warn({ pluginId, cause, detail, culprit, stderr }, 'a sandbox process was lost');
      },
    },
    sandboxDir: deps.sandboxDir,
    dataDir: deps.dataDir,
    log,
    clock,
    maxProcesses: deps.maxProcesses,
    mostThreads: deps.mostThreads,
    driverFile: deps.driverFile,
    idleMs: deps.idleMs,
  });
  const { admission, quarantine, usage } = sandbox;

  function dying({ id, pluginId, version }: SandboxProcess, { cause, detail, culprit }: ChildDeath): void {
    const call = calls.find(id, culprit);
    if (call !== undefined) call.isCulprit = true;
    const keyId = call?.callerKeyId;
    const by = call && { keyId: call.callerKeyId, request: call.fingerprint() };
    const { pluginMs: backOffMs, keyMs } = quarantine.killed(pluginId, `${cause}: ${detail}`, by);
    if (backOffMs > 0) log.error({ pluginId, cause, backOffMs }, 'a plugin is backed off');
    if (keyMs > 0) log.warn({ pluginId, cause, keyId, backOffMs: keyMs }, 'an API key is backed off for a plugin');
    // Such a module kills each process before it is loaded. It would kill one after another for the waiting calls.
    if (backOffMs > 0 && version === undefined) admission.sendAway(pluginId);
  }

  function tick(): void {
    sandbox.tick();
    const { processes, queued } = sandbox.status();
    metrics.set('plugin_processes', {}, processes);
    metrics.set('plugin_calls_running', {}, calls.size);
    metrics.set('plugin_calls_queued', {}, queued);
  }

  async function prepare(): Promise<Prepared | undefined> {
    const root = await pluginsRoot(deps.pluginsDir);
    if (ending() !== undefined) return undefined;
    const opened = await sandbox.open(root);
    return opened && { root, ...opened };
  }

  async function start({ services, capabilities, books, settings, durable }: PluginSurroundings): Promise<void> {
    const { effects, bundles } = services;
    gateway = new CapabilityGateway({
      capabilities: capabilities ?? bindCapabilities(services),
      calls,
      effects,
      log,
      metrics,
      clock,
      uuid: deps.uuid,
      relayerIds: () => someRelayerIds(services.relayers),
    });
    prepared ??= prepare();
    const ground = await prepared;
    if (ground === undefined) return;
    const watch = deps.watch === undefined ? {} : { watch: deps.watch };
    const plugins = new PluginCatalog({
      ...watch,
      entries: deps.entries,
      root: ground.root,
      compiler: ground.compiler,
      environment: deps.environment,
      log,
      clock,
      tryOut: (version) => sandbox.tryOut(version),
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
      uses: (pluginId) => sandbox.status().uses.filter((use) => use.pluginId === pluginId),
      load: (pluginId) => admission.load(pluginId),
      backOff: (pluginId) => quarantine.backOff(pluginId),
      clock,
    });
    // The thread and the spare process start while the plugins are compiled.
    await Promise.all([ground.thread, plugins.start(deps.compileMs ?? COMPILE_MS)]);
    if (ending() !== undefined) return await ending();
    const late = plugins.list().filter((plugin) => stateOf(plugin) === 'compiling');
    if (late.length > 0) log.warn({ pluginIds: late.map(({ entry }) => entry.id) }, 'plugins are still being compiled');
    const plugin = (id: string) => plugins.get(id);
    runner = new CallRunner({
      pool: sandbox,
      admission,
      calls,
      quarantine,
      plugin,
      clock,
      log,
      metrics,
      usage,
      callLog,
      feed,
      effects,
      bundles,
      seed: deps.seed,
    });
    if (durable !== undefined) {
      durableCalls = new DurableCalls({ ...durable, runner, plugin, bundles, clock, log, metrics, seed: deps.seed });
      durable.calls.attach(durableCalls);
      durableCalls.start();
    }
    ticking = setInterval(tick, TICK_MS);
    await sandbox.settled(CHILD_MS);
  }

  async function close(graceMs: number): Promise<void> {
    durableCalls?.rest();
    await waitUntil(() => underWay === 0, graceMs);
    admission.close();
    clearInterval(ticking);
    await Promise.all([catalog?.close(), sandbox.close(LAST_CHILD_MS), prepared?.catch(() => undefined)]);
    await durableCalls?.close();
  }

  /** Accepts a durable call, and answers with its end, or with the call when the caller's wait is over. */
  async function callDurably(
    durably: DurableCalls,
    plugin: KnownPlugin,
    request: PluginRequest,
  ): Promise<PluginAnswer> {
    const { entry } = plugin;
    if (plugin.serving === undefined) await withTimeout(BUILD_WAIT_MS, plugin.isBuilt);
    const serving = catalog?.get(entry.id)?.serving;
    if (serving === undefined)
      throw new AppError('UNAVAILABLE', { reason: `Plugin ${entry.id} has no version that runs` });
    const call = await durably.call(plugin, serving.version, request, lifetimeOf(entry));
    const found = await durably.answerOf(call.id, request.waitMs ?? entry.timeout * 1000);
    if ('answer' in found) return found.answer;
    if (found.call.ending !== null) return answerOfEnding(found.call.ending, entry);
    const body = writeJson({ success: true, data: callView(found.call), error: null });
    return { status: 202, body, location: `/api/v1/plugins/${entry.id}/calls/${call.id}` };
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
        if (plugin.entry.durable && durableCalls !== undefined) return await callDurably(durableCalls, plugin, request);
        return await runner.run(plugin, request, signal);
      } finally {
        underWay--;
      }
    },
    isDurable: (pluginId) => durableCalls !== undefined && catalog?.get(pluginId)?.entry.durable === true,
    status: () => ({
      ...sandbox.status(),
      running: calls.size,
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
