import { constants } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isObject } from '../domain/json/json.ts';
import { configurationPath, reportIgnored } from './check.ts';
import {
  checkCaveats,
  checkPluginGrants,
  checkRelayerReferences,
  checkSignerCurve,
  checkTriggers,
} from './check-references.ts';
import type { Configuration, KnownChains, KnownSignerKinds, SignerEntry } from './configuration.ts';
import { readEnvironment, readVariables } from './environment.ts';
import { displayPath, readJsonFile } from './json-file.ts';
import { readNetworkEntries } from './networks/network-files.ts';
import { resolveNetworks } from './networks/networks.ts';
import { ConfigurationFindings, problemText } from './problems.ts';
import {
  type ConfigurationSection,
  checkPolicies,
  readNotifications,
  readPlugins,
  readRelayers,
  readSigners,
  sectionEntries,
  sectionIds,
} from './read-sections.ts';
import { checkSecrets, type Variables } from './secrets.ts';

/** The sources of the configuration, and the chains and signer kinds it is checked against. */
export interface ConfigurationSource {
  env: Variables;
  /** The base of relative paths, and the folder of `.env`. */
  cwd: string;
  chains: KnownChains;
  signerKinds: KnownSignerKinds;
  /** At a start, a file that is missing is made from the one that ships. */
  isFirst?: boolean;
}

const SECTIONS = ['relayers', 'signers', 'notifications', 'networks', 'plugins'];
const EMPTY_FILE = '{ "relayers": [], "signers": [], "notifications": [], "plugins": [] }';

/**
 * Reads the environment, the configuration file and the network files, and checks them against each other.
 * @throws ConfigurationError with every problem at once
 */
export async function loadConfiguration(source: ConfigurationSource): Promise<Configuration> {
  const { env, cwd, chains, signerKinds } = source;
  const findings = new ConfigurationFindings();
  const variables = await readVariables(env, cwd, findings);
  const environment = readEnvironment(variables, findings);

  const folder = variables['CONFIG_DIR'] || './config';
  const path = resolve(cwd, folder, variables['CONFIG_FILE_NAME'] || 'config.json');
  const file = displayPath(cwd, path);
  if (source.isFirst === true) await copyExample(path);
  const sections = await readSections(path, file, findings);
  const section = (name: string): ConfigurationSection => ({ value: sections.get(name), place: { file, path: name } });

  const relayers = readRelayers(section('relayers'), chains, findings);
  const signers = readSigners(section('signers'), signerKinds, findings);
  const notifications = readNotifications(section('notifications'), variables, findings);
  const plugins = readPlugins(section('plugins'), findings);
  const networkSource = { declared: sections.get('networks'), file, defaultFolder: join(folder, 'networks'), cwd };
  const networkEntries = await readNetworkEntries(networkSource, findings);
  const networks = resolveNetworks(networkEntries, chains, relayers, findings);

  const secrets = ['signers', 'notifications'].flatMap((name) =>
    checkSecrets(sections.get(name), { file, path: name }, variables, findings),
  );
  for (const [value, at] of sectionEntries(section('plugins'))) {
    const triggers = isObject(value) ? value['triggers'] : undefined;
    secrets.push(
      ...checkSecrets(triggers, { file, path: configurationPath(at.path, ['triggers']) }, variables, findings),
    );
  }
  const known = {
    networks: [...networks, ...networkEntries],
    relayers: sectionIds(section('relayers').value),
    signers: sectionIds(section('signers').value),
    notifications: sectionIds(section('notifications').value),
    secrets: [...secrets, ...signers.flatMap(({ type }) => signerKinds.get(type)?.variables ?? [])],
  };
  for (const [value, at] of sectionEntries(section('relayers'))) checkRelayerReferences(value, at, known, findings);
  const places = new Map(sectionEntries(section('relayers')).map(([value, at]) => [value, at]));
  for (const relayer of relayers) {
    const at = places.get(relayer.declaration);
    if (at === undefined) continue;
    checkPolicies(relayer, at, { networks, chains }, findings);
    checkSignerCurve(relayer, at, { signers, kinds: signerKinds, chains }, findings);
  }
  const families = new Map(relayers.map(({ id, networkType }) => [id, chains.get(networkType)]));
  for (const [value, at] of sectionEntries(section('plugins'))) {
    checkPluginGrants(value, at, known, findings);
    checkCaveats(value, at, families, findings);
    checkTriggers(value, at, known, variables, findings);
  }

  await checkKeyFiles(signers, source, findings);

  findings.settle();
  if (environment === undefined) throw new Error('the environment is missing without a problem');
  const warnings = findings.warnings.map(problemText);
  return { environment, variables, relayers, signers, notifications, networks, plugins, warnings };
}

/** What cannot be made is reported by the reading that follows. */
async function copyExample(path: string): Promise<void> {
  await copyFile(path.replace(/\.json$/, '.example.json'), path, constants.COPYFILE_EXCL).catch(() => undefined);
}

async function readSections(
  path: string,
  file: string,
  findings: ConfigurationFindings,
): Promise<Map<string, unknown>> {
  const advice = `Create it with ${EMPTY_FILE}, or say with CONFIG_DIR and CONFIG_FILE_NAME where it is`;
  const content = await readJsonFile(path, file, findings, advice);
  if (content === undefined) return new Map();
  const parsed = z.record(z.string(), z.unknown()).safeParse(content.value);
  if (!parsed.success) {
    findings.problem(file, '', `must be a JSON object with ${SECTIONS.join(', ')}`);
    return new Map();
  }
  for (const key of Object.keys(parsed.data)) {
    if (key === '$schema' || SECTIONS.includes(key)) continue;
    reportIgnored(key, SECTIONS, { file, path: '' }, findings);
  }
  return new Map(Object.entries(parsed.data));
}

/**
 * Warns of each key file that other users of the machine can read. A missing file is skipped; opening it reports that.
 */
export async function checkKeyFiles(
  signers: readonly SignerEntry[],
  { signerKinds, cwd }: { signerKinds: KnownSignerKinds; cwd: string },
  findings: ConfigurationFindings,
): Promise<void> {
  const named = signers.map(({ type, config }) => signerKinds.get(type)?.fileOf?.(config));
  const paths = new Set(named.filter((path) => path !== undefined).map((path) => resolve(cwd, path)));
  for (const path of paths) {
    const mode = (await stat(path).catch(() => undefined))?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    const file = displayPath(cwd, path);
    findings.warn(file, '', 'others on this machine can use this keystore', `Keep it to its owner: chmod 600 ${file}`);
  }
}
