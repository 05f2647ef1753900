import { join } from 'node:path';
import { compose } from '../../src/app/compose.ts';
import { createChains } from '../../src/chains/registry.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { defaultTiming, type EngineTiming } from '../../src/engine/timing.ts';
import { createLog } from '../../src/observability/log.ts';
import { loadConfiguration } from '../../src/settings/load.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import { FakePluginHost } from './fake-plugin-host.ts';
import { clientOf, type StartedService } from './service.ts';

/** A service that lives in this process. */
export interface ComposedService extends StartedService {
  /** The sign-in link as the terminal shows it. Null unless the start made the API key. */
  signInLink(): string | null;
}

const root = join(import.meta.dirname, '..', '..');

/**
 * Composes the service in this process, as `src/main.ts` does in its own. For tests that are not about processes: it
 * takes a fifth of the time of starting a process. If the configuration names no plugin, none runs and no sandbox is
 * started.
 * @param pace what differs from the service's
 */
export async function composeService(
  env: Record<string, string>,
  pace: Partial<EngineTiming> = {},
): Promise<ComposedService> {
  const chains = createChains(systemClock);
  const signerKinds = createSignerKinds();
  const readConfiguration = () => loadConfiguration({ env, cwd: root, chains, signerKinds });
  const configuration = await readConfiguration();
  const lines: string[] = [];
  const log = createLog(configuration.environment.LOG_LEVEL, { write: (line) => lines.push(line.trimEnd()) });
  for (const warning of configuration.warnings) log.warn({ warning }, 'configuration');
  const hasPlugins = configuration.plugins.length > 0;
  const service = await compose({
    configuration,
    readConfiguration,
    chains,
    signerKinds,
    log,
    timing: { ...defaultTiming, ...pace },
    ...(hasPlugins ? {} : { createPluginHost: () => new FakePluginHost([]) }),
  });
  log.info({ address: service.address, metricsAddress: service.metricsAddress }, 'ready');
  return {
    ...(await clientOf(service.address, env)),
    signInLink: () => service.signInLink(),
    output: () => lines.join('\n'),
    linesAfter: (count) => lines.slice(count),
    stop: () => service.close(),
    end: () => service.close(),
  };
}
