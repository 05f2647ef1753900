import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pluginIdSchema } from '../../domain/id.ts';
import { pluginEntrySchema } from '../../features/plugins/records/plugin.ts';
import { readVariables } from '../../settings/environment.ts';
import { ConfigurationFindings } from '../../settings/problems.ts';
import type { Command, CommandArguments, CommandContext } from '../command.ts';
import { configurationFile, readCommandEnvironment } from '../settings.ts';
import { type ForeignScript, readForeignScript, readJson } from './foreign-script.ts';
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
  const target = join(resolve(context.cwd, PLUGINS_DIR), id);

  const isAgain = given.flags.has('overwrite');
  const known = configuration?.plugins.findIndex((entry) => (entry as { id?: unknown } | null)?.id === id) ?? -1;
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
  const entry = pluginEntrySchema.parse(mapping.entry) && mapping.entry;
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
    if (lines.length > 0) context.say([`\n${title}`, ...lines.map((line) => `- ${line}`)].join('\n'));
  };
  const secrets = (mapping.entry.triggers ?? []).flatMap(({ secret }) =>
    secret?.type === 'env' ? [secret.value] : [],
  );
  const unset = [...mapping.entry.permissions.env, ...secrets].filter((name) => !variables[name]);
  const needs = packages.map(({ name, version }) => (version === undefined ? name : `${name}@${version}`));
  list('To do:', [
    ...(needs.length > 0
      ? [`Install what it imports, in the folder of the service: npm install ${needs.join(' ')}`]
      : []),
    ...(unset.length > 0 ? [`Set in the environment, before the service starts again: ${unset.join(', ')}`] : []),
    ...mapping.todo,
  ]);
  list('Not mapped:', [...script.unmapped, ...mapping.unmapped]);
  context.say(`\nThen: npx isolayer plugin check ${id}`);
  return 0;
}

interface KnownConfiguration {
  all: object;
  plugins: readonly unknown[];
  relayers: { id?: unknown; network_type?: unknown }[];
}

async function readConfiguration(file: string): Promise<KnownConfiguration | undefined> {
  const all = await readJson(file);
  if (all === undefined) return undefined;
  if (typeof all !== 'object' || all === null || Array.isArray(all)) throw new Error(`${file} holds no object`);
  const { plugins = [], relayers = [] } = all as { plugins?: unknown; relayers?: unknown };
  if (!Array.isArray(plugins) || !Array.isArray(relayers)) throw new Error(`${file}: plugins and relayers are lists`);
  return { all, plugins, relayers: relayers as KnownConfiguration['relayers'] };
}

function onlyRelayer(configuration: KnownConfiguration | undefined): string {
  const evm = (configuration?.relayers ?? []).filter((one) => one.network_type === 'evm').map(({ id }) => String(id));
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

/** Whole or not at all: a running service reads the file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const half = `${file}.${process.pid}`;
  await writeFile(half, text);
  await rename(half, file);
}

function isInstalled(name: string, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', name))) return true;
    if (dirname(at) === at) return false;
  }
}
