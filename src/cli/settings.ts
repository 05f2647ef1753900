import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { systemClock } from '../domain/clock.ts';
import type { Configuration } from '../settings/configuration.ts';
import { type Environment, readEnvironment, readVariables } from '../settings/environment.ts';
import { loadConfiguration } from '../settings/load.ts';
import { ConfigurationFindings } from '../settings/problems.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { CommandContext } from './command.ts';

/** Reads only the environment, for commands that must work without a valid configuration file. */
export async function readCommandEnvironment({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Promise<Environment> {
  const findings = new ConfigurationFindings();
  const environment = readEnvironment(await readVariables(env, cwd, findings), findings);
  findings.settle();
  if (environment === undefined) throw new Error('the environment is missing without a problem');
  return environment;
}

/** What commands about plugins take of the configuration. */
export interface CliPluginConfiguration extends Pick<Configuration, 'environment' | 'variables' | 'plugins'> {
  /** Why there are no entries of plugins, when the configuration cannot be used. */
  fault?: string;
}

/** Reads what commands about plugins need. They work without a configuration, and beside one with faults. */
export async function readPluginConfiguration(
  context: Pick<CommandContext, 'env' | 'cwd'>,
): Promise<CliPluginConfiguration> {
  try {
    return await readCommandConfiguration(context);
  } catch {
    const variables = await readVariables(context.env, context.cwd, new ConfigurationFindings());
    const fault = existsSync(configurationFile(context.cwd, variables))
      ? 'The configuration has faults (npx isolayer check-config lists them)'
      : 'There is no configuration file, which is allowed';
    return { environment: await readCommandEnvironment(context), variables, plugins: [], fault };
  }
}

/** The absolute path of the configuration file, whether it exists or not. */
export function configurationFile(cwd: string, variables: Record<string, string | undefined>): string {
  return resolve(cwd, variables['CONFIG_DIR'] || './config', variables['CONFIG_FILE_NAME'] || 'config.json');
}

/** Reads the whole configuration like a start. */
export async function readCommandConfiguration({
  env,
  cwd,
}: Pick<CommandContext, 'env' | 'cwd'>): Promise<Configuration> {
  const chains = createChains(systemClock);
  return await loadConfiguration({ env, cwd, chains, signerKinds: createSignerKinds() });
}
