import { resolve } from 'node:path';
import { createCompiler } from '../../sandbox/host/sandbox.ts';
import { systemClock } from '../domain/clock.ts';
import { createMachineIdentityHttp, createSignerHttp } from '../egress/signer-http.ts';
import { PluginCatalog, pluginsRoot } from '../features/plugins/host/catalog/catalog.ts';
import type { CatalogPlugin } from '../features/plugins/host/catalog/known-plugin.ts';
import { createLog } from '../observability/log.ts';
import { NO_METRICS } from '../observability/metrics.ts';
import type { Configuration } from '../settings/configuration.ts';
import { createSecretResolver } from '../settings/secrets.ts';
import { RestartingKeyThread } from '../signers/keys/key-worker.ts';
import { createSignerKinds, openKeyRing, type SignerKinds } from '../signers/registry.ts';
import type { Command } from './command.ts';
import { readCommandConfiguration } from './settings.ts';

/** Reads the configuration, opens the signers and compiles the plugins like a start, but starts nothing. */
export const checkConfigCommand: Command = {
  usage: 'check-config',
  summary: 'Check the configuration, the signers and the plugins: print every problem, or "ok"',
  flags: [],
  arguments: 0,
  async run(context) {
    const configuration = await readCommandConfiguration(context);
    for (const warning of configuration.warnings) context.say(`warning: ${warning}`);
    const { relayers, networks, notifications, signers } = configuration;
    for (const { id, network, networkType } of relayers) context.say(`relayer ${id}: ${networkType} ${network}`);
    const kinds = createSignerKinds();
    await openSigners(configuration, kinds);
    for (const { id, type } of signers) context.say(`signer ${id}: ${type}, ${checkedAs(kinds.get(type)?.limitMs)}`);
    for (const { id } of notifications) context.say(`notification ${id}`);
    context.say(`networks: ${networks.length} known`);
    const plugins = await compilePlugins(context.cwd, configuration);
    for (const { entry, failure, serving } of plugins) {
      if (serving?.warning !== undefined) context.say(`warning: plugin ${entry.id}: ${serving.warning}`);
      if (failure === undefined) context.say(`plugin ${entry.id}: ${entry.path} compiles`);
      else context.complain(`plugin ${entry.id}: ${[failure.message, failure.hint].filter(Boolean).join('; ')}`);
    }
    const isFine = plugins.every(({ failure }) => failure === undefined);
    context.say(isFine ? 'ok' : 'not ok');
    return isFine ? 0 : 1;
  },
};

/**
 * Says how far a signer was checked. A key in this process was opened. A signing service is not called before the first
 * signature.
 */
function checkedAs(limitMs: number | null | undefined): string {
  return limitMs === null ? 'opened' : 'complete; its key service was not contacted';
}

/** @throws AggregateError naming each signer that cannot be opened */
async function openSigners({ signers, variables }: Configuration, kinds: SignerKinds): Promise<void> {
  const http = createSignerHttp();
  const identity = createMachineIdentityHttp();
  const keeper = new RestartingKeyThread();
  try {
    const secrets = createSecretResolver(variables);
    const tools = {
      secrets,
      http,
      identity,
      clock: systemClock,
      random: Math.random,
      metrics: NO_METRICS,
      keys: keeper,
    };
    const keyRing = await openKeyRing(kinds, signers, tools);
    await keyRing.close();
  } finally {
    await Promise.all([http.close(), identity.close(), keeper.close()]);
  }
}

export const SANDBOX_DIR = resolve(import.meta.dirname, '..', '..', 'sandbox');

/** Compiles all plugins of a folder like a start. */
export async function compilePlugins(
  cwd: string,
  { environment, variables, plugins }: Pick<Configuration, 'environment' | 'variables' | 'plugins'>,
): Promise<CatalogPlugin[]> {
  const root = await pluginsRoot(resolve(cwd, environment.PLUGINS_DIR));
  const compiler = createCompiler({ root, sandboxDir: SANDBOX_DIR });
  const log = createLog('silent');
  const catalog = new PluginCatalog({
    entries: plugins,
    root,
    compiler,
    environment: (name: string) => variables[name],
    log,
    clock: systemClock,
    tryOut: () => false,
  });
  try {
    await catalog.refresh();
    // Waits for slow plugins, which would otherwise seem free of errors.
    await catalog.slowOnes();
    return catalog.list();
  } finally {
    await catalog.close();
    await compiler.close();
  }
}
