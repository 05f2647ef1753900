import type { Chain } from '../chains/chain.ts';
import type { Clock } from '../domain/clock.ts';
import { ENDPOINT_STATES, type EndpointNews, type EndpointStatus } from '../domain/endpoint-news.ts';
import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { RpcCallReport } from '../egress/rpc/failover-rpc-client.ts';
import type { Engine } from '../engine/engine.ts';
import type { PluginHost } from '../features/plugins/host/plugin-host.ts';
import type { PluginEntry } from '../features/plugins/records/plugin.ts';
import { declaredTriggers, keyIdOf } from '../features/triggers/firing.ts';
import { PAUSED_BY, triggerKeyId } from '../features/triggers/records/trigger-state.ts';
import type { Metrics, ServiceMetrics } from '../observability/metrics.ts';
import type { Store } from '../store/store.ts';

/** The parts that a scrape samples. */
interface SampledParts {
  store: Pick<MeteredStore, 'read' | 'now' | 'writeFailure'>;
  chains: ReadonlyMap<NetworkType, Pick<Chain, 'unit'>>;
  engine: Pick<Engine, 'parked'>;
  connections: { endpoints(): readonly (EndpointStatus & { network: string })[] };
  pluginHost: Pick<PluginHost, 'status' | 'usage'>;
  /** The plugins as they are declared now. */
  declared(): readonly PluginEntry[];
}

/**
 * Updates gauges at each scrape. Each gauge is set as a whole, so that no value of a removed item stays. Stored facts
 * are read from the store, because another instance may have changed them.
 */
export function sampleAtScrape(metrics: ServiceMetrics, parts: SampledParts): void {
  const { store, engine, connections, pluginHost } = parts;
  metrics.atScrape(async () => {
    const isHealthy = (await answers(store)) && store.writeFailure() === undefined;
    metrics.set('store_healthy', {}, isHealthy ? 1 : 0);
  });
  metrics.atScrape(async () => sampleOpen(metrics, await store.read.openCounts(), await store.now()));
  metrics.atScrape(async () => metrics.set('intents_waiting', {}, await store.read.waitingIntents()));
  metrics.atScrape(() => sampleRelayers(metrics, parts));
  metrics.atScrape(() => {
    const parked = engine.parked().map((one) => [{ ...labelsOf(one), reason: one.cause }, 1] as const);
    metrics.replace('transactions_parked', parked);
  });
  metrics.atScrape(() => {
    // Endpoints with the same name (two keys at one provider) are added up.
    const endpoints = connections
      .endpoints()
      .flatMap(({ network, endpoint, state }) =>
        ENDPOINT_STATES.map((each) => [{ network, endpoint, state: each }, each === state ? 1 : 0] as const),
      );
    metrics.replace('rpc_endpoints', endpoints);
  });
  metrics.atScrape(() => samplePlugins(metrics, pluginHost));
  metrics.atScrape(() => sampleTriggers(metrics, parts));
}

type OpenCount = Awaited<ReturnType<Store['read']['openCounts']>>[number];

/** @param now by the store's clock, in milliseconds */
function sampleOpen(metrics: ServiceMetrics, counts: readonly OpenCount[], now: number): void {
  const open = counts.map((one) => [{ ...labelsOf(one), status: one.status }, one.count] as const);
  metrics.replace('transactions_open', open);
  const oldest = new Map<string, OpenCount>();
  for (const one of counts) {
    const known = oldest.get(one.relayerId);
    if (known === undefined || one.oldestAt < known.oldestAt) oldest.set(one.relayerId, one);
  }
  const ages = [...oldest.values()].map((one) => [labelsOf(one), Math.max(0, now - one.oldestAt) / 1000] as const);
  metrics.replace('transactions_oldest_open_age', ages);
}

/** The status changes of a transaction without trouble. */
const USUAL_MOVES = [
  ['pending', 'sent'],
  ['sent', 'submitted'],
  ['submitted', 'mined'],
  ['mined', 'confirmed'],
] as const;

async function sampleRelayers(metrics: ServiceMetrics, { store, chains }: SampledParts): Promise<void> {
  const relayers = await store.read.allRelayers();
  const healthy = relayers.map(
    ({ id, disabledReason }) => [{ relayer_id: id }, disabledReason === null ? 1 : 0] as const,
  );
  metrics.replace('relayer_healthy', healthy);
  if (relayers.length <= MAX_STARTED) {
    for (const { id: relayerId, networkType } of relayers) startRelayer(metrics, labelsOf({ relayerId, networkType }));
  }
  const known = new Map((await store.read.relayerBalances()).map((seen) => [seen.relayerId, seen.balance]));
  const balances = relayers.flatMap(({ id: relayerId, networkType }) => {
    const balance = known.get(relayerId);
    const unit = chains.get(networkType)?.unit;
    if (balance === undefined || unit === undefined) return [];
    return [[{ ...labelsOf({ relayerId, networkType }), unit }, Number(balance)] as const];
  });
  metrics.replace('relayer_balance', balances);
}

/**
 * With more relayers than this, their series start with what they count. Thirteen series at 0 for each of 10,000 would
 * add 16 MB to each scrape.
 */
const MAX_STARTED = 1_000;

/** Starts a relayer's series at 0. */
function startRelayer(metrics: Metrics, labels: ReturnType<typeof labelsOf>): void {
  metrics.count('lane_faults', { network_type: labels.network_type }, 0);
  metrics.count('transaction_decisions', { ...labels, kind: 'gap-filled' }, 0);
  for (const [from, to] of USUAL_MOVES) metrics.count('transaction_transitions', { ...labels, from, to }, 0);
  for (const failure_reason of ['failed', 'expired']) {
    for (const previous_status of ['pending', 'sent', 'submitted', 'mined']) {
      metrics.count('transactions_failed', { ...labels, failure_reason, previous_status }, 0);
    }
  }
}

async function sampleTriggers(metrics: ServiceMetrics, { store, declared }: SampledParts): Promise<void> {
  const names = new Set(declaredTriggers(declared()).map(keyIdOf));
  const stored = names.size === 0 ? [] : await store.read.triggers();
  const states = stored.filter(({ pluginId, name }) => names.has(triggerKeyId(pluginId, name)));
  metrics.replace(
    'trigger_paused',
    states.flatMap(({ pluginId: plugin_id, name: trigger, paused }) =>
      PAUSED_BY.map((by) => [{ plugin_id, trigger, by }, paused === by ? 1 : 0] as const),
    ),
  );
}

function samplePlugins(metrics: ServiceMetrics, pluginHost: SampledParts['pluginHost']): void {
  // The sums since the start, so that a call costs nothing here.
  const { totals, heapPeaks } = pluginHost.usage();
  const used = [...totals].map((one) => ({ one, labels: { plugin_id: one.pluginId, outcome: one.outcome } }));
  const { uses, plugins } = pluginHost.status();
  metrics.replace(
    'plugin_cpu',
    used.map(({ one, labels }) => [labels, one.cpuMs / 1000]),
  );
  metrics.replace(
    'plugin_received',
    used.map(({ one, labels }) => [labels, one.bytesIn]),
  );
  metrics.replace(
    'plugin_sent',
    used.map(({ one, labels }) => [labels, one.bytesOut]),
  );
  metrics.replace(
    'plugin_heap_peak',
    [...heapPeaks].map(([plugin_id, bytes]) => [{ plugin_id }, bytes]),
  );
  metrics.replace(
    'plugin_isolates',
    uses.map(({ pluginId, isolates }) => [{ plugin_id: pluginId }, isolates]),
  );
  metrics.replace(
    'plugin_resident_memory',
    uses.map((use) => [{ plugin_id: use.pluginId }, use.residentBytes]),
  );
  metrics.replace(
    'plugin_refused',
    plugins.map(({ id, refused }) => [{ plugin_id: id }, refused ? 1 : 0]),
  );
  for (const { id: plugin_id } of plugins) {
    for (const cause of ['memory', 'overdue', 'died', 'protocol']) {
      metrics.count('plugin_process_ends', { plugin_id, cause }, 0);
    }
    for (const outcome of ['SERVICE_UNAVAILABLE', 'SANDBOX_LOST']) {
      metrics.count('plugin_call_outcomes', { plugin_id, outcome }, 0);
    }
  }
}

function labelsOf({ relayerId, networkType }: { relayerId: string; networkType: string }) {
  return { relayer_id: relayerId, network_type: networkType };
}

/** The most method names that get a label of their own. */
const MAX_METHODS = 64;

/**
 * Returns what counts calls to the networks' endpoints. Clients choose methods of the RPC pass-through, so methods
 * beyond the limit share the label `other`.
 */
export function rpcCallCounter(metrics: Metrics): (network: unknown, report: RpcCallReport) => void {
  const methods = new Set<string>();
  const labelOf = (method: string) => {
    if (methods.has(method)) return method;
    if (methods.size >= MAX_METHODS || !/^\w{1,64}$/.test(method)) return 'other';
    methods.add(method);
    return method;
  };
  return (_, { endpoint, method, outcome, ms }) => {
    const labels = { endpoint, operation_name: labelOf(method) };
    metrics.observe('rpc_call_duration', labels, ms / 1000);
    if (outcome !== 'ok') metrics.count('rpc_call_failures', { ...labels, error_type: outcome });
  };
}

/** Counts an endpoint's pause. An endpoint that serves again is not counted. */
export function countEndpointNews(
  metrics: Metrics,
  network: string,
  { kind, endpoint }: Pick<EndpointNews, 'kind' | 'endpoint'>,
): void {
  if (kind !== 'back') metrics.count('rpc_endpoint_pauses', { network, endpoint, reason: kind });
}

/** Whether the store answers. A store that accepts no more writes does not return its time either. */
async function answers(store: Pick<Store, 'now'>): Promise<boolean> {
  try {
    await store.now();
    return true;
  } catch {
    return false;
  }
}

/**
 * The outcome of a write: it is on disk (`kept`), its body threw or its lease was lost (`undone`), or the store could
 * not write it (`failed`).
 */
export type StoreWriteOutcome = 'kept' | 'undone' | 'failed';

/** A store whose writes are counted. */
export interface MeteredStore extends Store {
  /** How long the oldest write that is under way has waited, in milliseconds; 0 when there is none. */
  oldestWriteMs(): number;
  /** The reason why the latest write failed; undefined after a successful write. */
  writeFailure(): string | undefined;
}

/** Returns the store with each write counted when it ends. */
export function meteredStore(store: Store, metrics: Metrics, clock: Pick<Clock, 'elapsed'>): MeteredStore {
  /** The writes under way, the oldest first. */
  const underWay = new Set<{ began: number }>();
  let writeFailure: string | undefined;
  const metered = async <T>(write: () => Promise<T>): Promise<T> => {
    const began = clock.elapsed();
    const entry = { began };
    underWay.add(entry);
    let outcome: StoreWriteOutcome = 'kept';
    let failure: string | undefined;
    try {
      return await write();
    } catch (cause) {
      outcome = cause instanceof AppError && cause.code === 'UNAVAILABLE' ? 'failed' : 'undone';
      if (outcome === 'failed') failure = reasonOf(cause);
      throw cause;
    } finally {
      underWay.delete(entry);
      // Includes the wait in the queue.
      metrics.observe('store_write_duration', { outcome }, (clock.elapsed() - began) / 1000);
      // A rolled back write says nothing about the disk.
      if (outcome !== 'undone') writeFailure = failure;
    }
  };
  return {
    oldestWriteMs() {
      const [oldest] = underWay;
      return oldest === undefined ? 0 : clock.elapsed() - oldest.began;
    },
    writeFailure: () => writeFailure,
    read: store.read,
    write: (body, options) => metered(() => store.write(body, options)),
    writeUnder: (lease, body, options) => metered(() => store.writeUnder(lease, body, options)),
    leases: store.leases,
    buckets: store.buckets,
    instances: store.instances,
    hints: store.hints,
    async now() {
      const began = clock.elapsed();
      const now = await store.now();
      metrics.observe('store_roundtrip', {}, (clock.elapsed() - began) / 1000);
      return now;
    },
    place: () => store.place(),
    warnings: () => store.warnings(),
    close: () => store.close(),
  };
}

/** Returns the reason for operators, with the database's own message. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message;
}
