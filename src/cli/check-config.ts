import { resolve } from 'node:path';
import type { Configuration } from '../config/configuration.ts';
import { createSecretResolver } from '../config/secrets.ts';
import { systemClock } from '../domain/clock.ts';
import { createSignerHttp } from '../egress/signer-http.ts';
import { createLog } from '../observability/log.ts';
import { Catalog, pluginsRoot } from '../plugin-host/catalog/catalog.ts';
import type { CatalogPlugin } from '../plugin-host/catalog/known-plugin.ts';
import { createCompiler } from '../plugin-host/compiler/compiler.ts';
import { openKeyRing } from '../signers/key-ring.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { Command, CommandContext } from './command.ts';
import { configurationOf } from './settings.ts';

const SANDBOX_DIR = resolve(import.meta.dirname, '..', '..', 'sandbox');

/** Reads the configuration as a start would, opens the signers and compiles the plugins. Starts nothing. */
export const checkConfigCommand: Command = {
  usage: 'check-config',
  summary: 'Say everything that is wrong with the configuration, the signers and the plugins, or "ok"',
  flags: [],
  arguments: 0,
  async run(context) {
    const configuration = await configurationOf(context);
    for (const warning of configuration.warnings) context.say(`warning: ${warning}`);
    const { relayers, networks, notifications, signers } = configuration;
    for (const { id, network, networkType } of relayers) context.say(`relayer ${id}: ${networkType} ${network}`);
    await openSigners(configuration);
    for (const { id, type } of signers) context.say(`signer ${id}: ${type}, opened`);
    for (const { id } of notifications) context.say(`notification ${id}`);
    context.say(`networks: ${networks.length} known`);
    const plugins = await compiledPlugins(context, configuration);
    for (const { entry, failure } of plugins) {
      if (failure === undefined) context.say(`plugin ${entry.id}: ${entry.path} compiles`);
      else context.complain(`plugin ${entry.id}: ${[failure.message, failure.hint].filter(Boolean).join('; ')}`);
    }
    const isFine = plugins.every(({ failure }) => failure === undefined);
    context.say(isFine ? 'ok' : 'not ok');
    return isFine ? 0 : 1;
  },
};

/** @throws AggregateError naming each that cannot be opened */
async function openSigners({ signers, variables }: Configuration): Promise<void> {
  const http = createSignerHttp();
  try {
    const metrics = { asked() {} };
    const secrets = createSecretResolver(variables);
    const tools = { secrets, http, clock: systemClock, random: Math.random, metrics };
    const keyRing = await openKeyRing(createSignerKinds(), signers, tools);
    await keyRing.close();
  } finally {
    await http.close();
  }
}

async function compiledPlugins({ cwd }: CommandContext, configuration: Configuration): Promise<CatalogPlugin[]> {
  const { environment, variables, plugins } = configuration;
  const root = await pluginsRoot(resolve(cwd, environment.PLUGINS_DIR));
  const compiler = createCompiler({ root, sandboxDir: SANDBOX_DIR });
  const log = createLog('silent');
  const catalog = new Catalog({
    ...{ entries: plugins, root, compiler, environment: (name: string) => variables[name], log },
    clock: systemClock,
    tryOut: () => false,
  });
  try {
    await catalog.refresh();
    return catalog.list();
  } finally {
    await catalog.close();
    await compiler.close();
  }
}
