import { createChains } from '../chains/registry.ts';
import type { Configuration } from '../config/configuration.ts';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { loadConfiguration } from '../config/load.ts';
import { Findings } from '../config/problems.ts';
import { readVariables } from '../config/variables.ts';
import { systemClock } from '../domain/clock.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { CommandContext } from './command.ts';

/** Reads only the environment, for commands that must work without a valid configuration file. */
export async function environmentOf({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Promise<Environment> {
  const findings = new Findings();
  const environment = readEnvironment(await readVariables(env, cwd, findings), findings);
  findings.settle();
  if (environment === undefined) throw new Error('the environment is missing without a problem');
  return environment;
}

/** Reads the whole configuration like a start. */
export async function configurationOf({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Promise<Configuration> {
  const chains = createChains(systemClock);
  return await loadConfiguration({ env, cwd, chains, signerKinds: createSignerKinds() });
}
