import type { Chain } from '../chains/chain.ts';
import type { Clock } from '../domain/clock.ts';
import type { EndpointStatus } from '../domain/endpoint-news.ts';
import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Engine } from '../engine/engine.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PluginHost } from '../plugin-host/plugin-host.ts';
import type { Store } from '../store/store.ts';

/** The parts that a scrape samples. */
interface SampledParts {
  store: Pick<Store, 'read' | 'now'>;
  chains: ReadonlyMap<NetworkType, Pick<Chain, 'unit'>>;
  engine: Pick<Engine, 'parked'>;
  connections: { endpoints(): readonly (EndpointStatus & { network: string })[] };
  pluginHost: Pick<PluginHost, 'status' | 'usage'>;
}

/**
 * Updates gauges at each scrape. Each gauge is set as a whole, so that no value of a removed item stays. Stored facts
 * are read from the store, because another instance may have changed them.
 */
export function sampleAtScrape(
  metrics: Metrics,
  { store, chains, engine, connections, pluginHost }: SampledParts,
): void {
  metrics.atScrape(async () =>
    metrics.store.stands((await answers(store)) && metrics.store.writeFailure === undefined),
  );
  metrics.atScrape(async () => metrics.engine.open(await store.read.openCounts(), await store.now()));
  metrics.atScrape(async () => metrics.engine.intentsWaiting(await store.read.waitingIntents()));
  metrics.atScrape(async () => {
    const relayers = await store.read.allRelayers();
    metrics.engine.relayers(relayers);
    const known = new Map((await store.read.relayerBalances()).map((seen) => [seen.relayerId, seen.balance]));
    metrics.engine.balances(
      relayers.flatMap(({ id: relayerId, networkType }) => {
        const balance = known.get(relayerId);
        const unit = chains.get(networkType)?.unit;
        return balance === undefined || unit === undefined ? [] : { relayerId, networkType, unit, balance };
      }),
    );
  });
  metrics.atScrape(() => metrics.engine.parked(engine.parked()));
  metrics.atScrape(() => metrics.rpc.endpoints(connections.endpoints()));
  metrics.atScrape(() => metrics.plugins.usage(pluginHost.usage()));
  metrics.atScrape(() => {
    const { uses, plugins } = pluginHost.status();
    metrics.plugins.uses(uses);
    metrics.plugins.standings(plugins);
  });
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
export type WriteOutcome = 'kept' | 'undone' | 'failed';

/** Counts writes by outcome. */
interface WriteMetrics {
  /** `seconds` is the time since the request, including the queue. `failure` is the reason of a failed write. */
  wrote(outcome: WriteOutcome, seconds: number, failure?: string): void;
}

/** A store whose writes are counted. */
export interface MeteredStore extends Store {
  /** How long the oldest write that is under way has waited, in milliseconds; 0 when there is none. */
  oldestWriteMs(): number;
}

/** Returns the store with each write counted when it ends. */
export function meteredStore(store: Store, metrics: WriteMetrics, clock: Pick<Clock, 'elapsed'>): MeteredStore {
  /** The writes under way, the oldest first. */
  const underWay = new Set<{ began: number }>();
  const metered = async <T>(write: () => Promise<T>): Promise<T> => {
    const began = clock.elapsed();
    const entry = { began };
    underWay.add(entry);
    let outcome: WriteOutcome = 'kept';
    let failure: string | undefined;
    try {
      return await write();
    } catch (cause) {
      outcome = cause instanceof AppError && cause.code === 'UNAVAILABLE' ? 'failed' : 'undone';
      if (outcome === 'failed') failure = reasonOf(cause);
      throw cause;
    } finally {
      underWay.delete(entry);
      metrics.wrote(outcome, (clock.elapsed() - began) / 1000, failure);
    }
  };
  return {
    oldestWriteMs() {
      const [oldest] = underWay;
      return oldest === undefined ? 0 : clock.elapsed() - oldest.began;
    },
    read: store.read,
    write: (body) => metered(() => store.write(body)),
    writeUnder: (lease, body) => metered(() => store.writeUnder(lease, body)),
    leases: store.leases,
    buckets: store.buckets,
    instances: store.instances,
    hints: store.hints,
    now: () => store.now(),
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
