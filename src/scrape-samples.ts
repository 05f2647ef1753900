import type { Chain } from './chains/chain.ts';
import type { EndpointStatus } from './domain/endpoint-news.ts';
import type { NetworkType } from './domain/network-type.ts';
import type { Engine } from './engine/engine.ts';
import type { Metrics } from './observability/metrics.ts';
import type { PluginHost } from './plugin-host/plugin-host.ts';
import type { Store } from './store/store.ts';

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
