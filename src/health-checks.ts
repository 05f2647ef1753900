import type { Engine } from './engine/engine.ts';
import type { ComponentHealth, HealthCheck } from './observability/health.ts';
import type { PluginHost } from './plugin-host/plugin-host.ts';
import type { Store } from './store/store.ts';

/** What is looked at when somebody asks whether the service is ready. */
interface CheckedParts {
  store: Pick<Store, 'now' | 'read'>;
  engine: Pick<Engine, 'unreached'>;
  pluginHost: Pick<PluginHost, 'status'>;
}

/** The parts of the service by name, as `/ready` shows them. */
export function healthChecks({ store, engine, pluginHost }: CheckedParts): Record<string, HealthCheck> {
  return {
    store: async () => {
      await store.now();
      return { status: 'healthy' };
    },
    networks: async () => networksOf(await store.read.allRelayers(), engine.unreached()),
    plugins: () => {
      const { threads, processes, running, queued, confinement, plugins } = pluginHost.status();
      const unfit = plugins
        .filter(({ state }) => state !== 'serving')
        .map(({ id, state, reason }) => ({ id, state, reason }));
      const status = unfit.length === 0 ? ('healthy' as const) : ('degraded' as const);
      return { status, threads, processes, running, queued, confinement: { ...confinement }, unfit };
    },
  };
}

/**
 * An instance that reaches no chain is not ready while another does, so that requests go there. When none does, it is no
 * reason to take all away from those who ask what is known.
 */
function networksOf(relayers: readonly { id: string }[], unreached: ReturnType<Engine['unreached']>): ComponentHealth {
  if (unreached.length === 0) return { status: 'healthy' };
  const isIn = new Set(relayers.map(({ id }) => id));
  const lost = unreached.filter(({ relayerId }) => isIn.has(relayerId));
  const isAll = lost.length > 0 && lost.length === relayers.length;
  const [first] = lost;
  return {
    status: lost.length === 0 ? 'healthy' : isAll && lost.some((one) => one.isElsewhere) ? 'unhealthy' : 'degraded',
    ...(isAll && { error: `This instance reaches no network: ${first?.cause}` }),
    unreached: lost.map(({ relayerId, network, cause, isElsewhere }) => ({
      ...{ relayer_id: relayerId, network, cause, served_by_others: isElsewhere },
    })),
  };
}
