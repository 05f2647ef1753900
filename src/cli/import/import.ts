import { existsSync } from 'node:fs';
import { copyFile, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { pluginIdSchema } from '../../domain/id.ts';
import { isObject } from '../../domain/json/json.ts';
import { pluginEntrySchema } from '../../features/plugins/records/plugin.ts';
import { readVariables, SECRET_VARIABLES } from '../../settings/environment.ts';
import { ConfigurationFindings } from '../../settings/problems.ts';
import { checkSecrets } from '../../settings/secrets.ts';
import { createSignerKinds } from '../../signers/registry.ts';
import type { Command, CommandArguments, CommandContext } from '../command.ts';
import { configurationFile, readCommandEnvironment } from '../settings.ts';
import { checked, type ForeignScript, readForeignScript, readJson } from './foreign-script.ts';
import { type Mapping, mapScript } from './mapping.ts';

/** Makes a plugin of a script of another host. */
export const importCommand: Command = {
  usage: 'import <folder>',
  summary: 'Make a plugin of a Gelato Web3 Function or a Defender Action: files, entry, triggers, permissions',
  more: [
    '--relayer <id> names the relayer that it sends through; not needed where there is only one',
    '--id <id> is the plugin’s id; without it, the name of the folder',
    '--every 5m, or --cron "0 8 * * 1-5" with --time-zone, says when to run it, where its folder does not',
    'It overwrites neither files nor an entry, unless --overwrite says so',
  ],
  flags: ['overwrite'],
  options: ['relayer', 'id', 'every', 'cron', 'time-zone'],
  arguments: 1,
  run: importScript,
};

async function importScript(context: CommandContext, given: CommandArguments): Promise<number> {
  const folder = resolve(context.cwd, given.values[0] ?? '');
  const script = await readForeignScript(folder);
  const id = given.options.get('id') ?? basename(folder).replaceAll(/[^A-Za-z0-9._@-]/g, '-');
  if (!pluginIdSchema.safeParse(id).success) {
    throw new Error(`${JSON.stringify(id)} cannot be a plugin's id: name one with --id`);
  }
  const { PLUGINS_DIR } = await readCommandEnvironment(context);
  const variables = await readVariables(context.env, context.cwd, new ConfigurationFindings());
  const file = configurationFile(context.cwd, variables);
  const configuration = await readConfiguration(file);
  const relayer = given.options.get('relayer') ?? onlyRelayer(configuration);
  const mapping = await mapScript(script, { id, relayer, options: given.options });
  const { entry } = mapping;
  const credentials = credentialsIn(configuration?.all ?? {});
  const ungranted = entry.permissions.env.filter((name) => credentials.has(name));
  entry.permissions.env = entry.permissions.env.filter((name) => !credentials.has(name));
  checked(pluginEntrySchema, entry, `the entry of "${id}"`);
  const target = join(resolve(context.cwd, PLUGINS_DIR), id);
  await assertApart(folder, target);
  for (const name of Object.keys(mapping.written)) {
    if (script.files.includes(name))
      throw new Error(`${join(folder, name)} is in the way of a file that import writes`);
  }

  const isAgain = given.flags.has('overwrite');
  const known = configuration?.plugins.findIndex((one) => isObject(one) && one['id'] === id) ?? -1;
  const inTheWay = [
    ...(existsSync(target) ? [relative(context.cwd, target)] : []),
    ...(known === -1 ? [] : [`the entry "${id}" in ${relative(context.cwd, file)}`]),
  ];
  if (inTheWay.length > 0 && !isAgain) {
    throw new Error(`${inTheWay.join(' and ')} would be overwritten: say --overwrite, or another --id`);
  }
  if (isAgain) await rm(target, { recursive: true, force: true });
  await writeFiles(script, mapping, target);
  context.say(`Written: ${relative(context.cwd, target)}, ${mapping.about}`);
  if (configuration === undefined) {
    context.say(`There is no ${relative(context.cwd, file)}. The entry for its "plugins":`);
  } else {
    const plugins = known === -1 ? [...configuration.plugins, entry] : configuration.plugins.with(known, entry);
    await replaceFile(file, `${JSON.stringify({ ...configuration.all, plugins }, null, 2)}\n`);
    context.say(`Written: its entry in ${relative(context.cwd, file)}:`);
  }
  context.say(JSON.stringify(entry, null, 2));

  const packages = script.packages.filter(({ name }) => !isInstalled(name, target));
  const list = (title: string, lines: readonly string[]) => {
    // The script's own words stand in them: none may steer the terminal.
    const shown = lines.map((line) => `- ${line.replaceAll(/\p{Cc}/gu, '\uFFFD')}`);
    if (lines.length > 0) context.say([`\n${title}`, ...shown].join('\n'));
  };
  const secrets = (entry.triggers ?? []).flatMap(({ secret }) => (secret?.type === 'env' ? [secret.value] : []));
  const unset = [...entry.permissions.env, ...secrets].filter((name) => !variables[name]);
  const needs = packages.map(({ name, version }) => (version === undefined ? name : `${name}@${version}`));
  list('To do:', [
    ...(needs.length > 0
      ? [`Install what it imports, in the folder of the service: npm install ${needs.join(' ')}`]
      : []),
    ...(unset.length > 0 ? [`Set in the environment, before the service starts again: ${unset.join(', ')}`] : []),
    ...mapping.todo,
  ]);
  list('Not mapped:', [
    ...script.unmapped,
    ...mapping.unmapped,
    ...ungranted.map((name) => `It reads ${name}, a credential of the service: give the script's own another name`),
  ]);
  context.say(`\nThen: npx isolayer plugin check ${id}`);
  return 0;
}

interface KnownConfiguration {
  all: Record<string, unknown>;
  plugins: readonly unknown[];
  relayers: Record<string, unknown>[];
}

async function readConfiguration(file: string): Promise<KnownConfiguration | undefined> {
  const all = await readJson(file);
  if (all === undefined) return undefined;
  if (!isObject(all)) throw new Error(`${file} holds no object`);
  const { plugins = [], relayers = [] } = all;
  if (!Array.isArray(plugins) || !Array.isArray(relayers)) throw new Error(`${file}: plugins and relayers are lists`);
  return { all, plugins, relayers: relayers.filter(isObject) };
}

/** The variables that no plugin may be granted, as a start of the service sees it: it would refuse the whole file. */
function credentialsIn({ signers, notifications, plugins }: Record<string, unknown>): Set<string> {
  const place = { file: '', path: '' };
  const named = checkSecrets([signers, notifications, plugins], place, {}, new ConfigurationFindings());
  const kinds = [...createSignerKinds().values()].flatMap(({ variables = [] }) => variables);
  return new Set([...SECRET_VARIABLES, ...named, ...kinds]);
}

/** Overwriting the plugin would delete a script that lies in its folder. @throws Error then, and the other way round */
async function assertApart(script: string, target: string): Promise<void> {
  const [one = '', other = ''] = await Promise.all(
    [script, target].map(async (path) => (await realpath(path).catch(() => path)) + sep),
  );
  if (!one.startsWith(other) && !other.startsWith(one)) return;
  throw new Error(`${script} and the plugin's folder ${target} lie in each other: move the script out first`);
}

function onlyRelayer(configuration: KnownConfiguration | undefined): string {
  const evm = (configuration?.relayers ?? [])
    .filter((one) => one['network_type'] === 'evm')
    .map(({ id }) => String(id));
  const [only, other] = evm;
  if (only !== undefined && other === undefined) return only;
  const names = evm.length === 0 ? '' : ` (${evm.join(', ')})`;
  throw new Error(`Name the relayer that it sends through: --relayer <id>${names}`);
}

async function writeFiles({ folder, files }: ForeignScript, { written }: Mapping, target: string): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await copyFile(join(folder, file), join(target, file));
  }
  for (const [file, text] of Object.entries(written)) await writeFile(join(target, file), text, { flag: 'wx' });
}

/** Whole or not at all: a running service reads the file. Links and the file's mode stay: it may hold secrets. */
async function replaceFile(named: string, text: string): Promise<void> {
  const file = await realpath(named);
  const half = `${file}.${process.pid}`;
  await writeFile(half, text, { mode: (await stat(file)).mode & 0o777, flag: 'wx' });
  await rename(half, file);
}

function isInstalled(name: string, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', name))) return true;
    if (dirname(at) === at) return false;
  }
}
