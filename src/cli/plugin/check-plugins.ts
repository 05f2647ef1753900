import { resolve } from 'node:path';
import type { PluginEntry } from '../../domain/plugin.ts';
import { grantsOf } from '../../plugin-host/capabilities/grants.ts';
import type { CatalogPlugin } from '../../plugin-host/catalog/known-plugin.ts';
import type { ServingVersion } from '../../plugin-host/catalog/version-swap.ts';
import { hostRefusal } from '../../plugin-host/compiler/network-use.ts';
import type { CommandContext, Given } from '../command.ts';
import { compiledPlugins } from '../compiled-plugins.ts';
import { environmentOf, pluginSettingsOf } from '../settings.ts';
import { typeProblems } from './type-check.ts';

/** Patterns in a bundle: the use of an available Node module, and the start of a stub for an unavailable one. */
const PROVIDED = /\bSymbol\.for\("isolayer\.module"\)\]\("([a-z_/]+)"\)/g;
const ABSENT = /\bvar name\d* = "([a-z_/]+)";\s+var instead\d* = /g;

/** `plugin check`: reports everything that a start and an editor would report about plugins. */
export async function checkPlugins(context: CommandContext, { values: [id] }: Given): Promise<number> {
  const { PLUGINS_DIR } = await environmentOf(context);
  const began = performance.now();
  const settings = await pluginSettingsOf(context);
  if (settings.fault !== undefined) context.say(`${settings.fault}: grants are taken for none`);
  const all = await compiledPlugins(context.cwd, settings);
  const plugins = all.filter(({ entry }) => id === undefined || entry.id === id);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (plugins.length === 0)
    throw new Error(`There is no plugin ${id === undefined ? 'yet' : JSON.stringify(id)} in ${PLUGINS_DIR}`);
  for (const plugin of plugins) report(context, plugin);
  context.say(`compiled in ${seconds} s`);
  const others = all.filter((plugin) => !plugins.includes(plugin)).map(({ entry }) => placeOf(entry));
  const own = id === undefined ? undefined : plugins.map(({ entry }) => placeOf(entry));
  const types = await typeProblems(
    resolve(context.cwd, PLUGINS_DIR),
    (file) => !others.some((place) => place(file)),
    own && ((file) => own.some((place) => place(file))),
  );
  for (const problem of types.problems) context.complain(problem);
  const { length: count } = types.problems;
  if (count > 0) context.say(`types: ${count} ${count === 1 ? 'problem' : 'problems'}`);
  if (types.note !== undefined) context.say(types.note);
  else if (count === 0) context.say('types: right');
  return plugins.some(({ failure }) => failure !== undefined) || count > 0 || types.isUnknown === true ? 1 : 0;
}

/** Returns a test for a plugin's own files, by their paths below the plugins folder. */
function placeOf({ path }: PluginEntry): (file: string) => boolean {
  const own = path.replace(/^\.?\/*(?:plugins\/)?/, '');
  const [folder] = own.split('/');
  const test = own.replace(/\.\w+$/, '.test.');
  return (file) => file === own || file.startsWith(`${folder}/`) || file.startsWith(test);
}

function report({ say, complain }: CommandContext, { entry, serving, failure }: CatalogPlugin): void {
  if (failure !== undefined)
    complain(`plugin ${entry.id}: ${[failure.message, failure.hint].filter(Boolean).join('; ')}`);
  if (serving === undefined) return;
  const { code } = serving.version;
  if (failure === undefined) say(`plugin ${entry.id}: ${entry.path} compiles, ${(code.length / 1024).toFixed(1)} KiB`);
  const provided = namesIn(code, PROVIDED);
  const absent = namesIn(code, ABSENT);
  if (serving.warning !== undefined) say(`  warning: ${serving.warning}`);
  if (provided.length > 0) say(`  of Node: ${provided.join(', ')}`);
  if (absent.length > 0) say(`  of Node, and throws when it is called: ${absent.join(', ')}`);
  for (const line of missingGrants(entry, serving)) say(`  ${line}`);
}

function namesIn(code: string, pattern: RegExp): string[] {
  return [...new Set([...code.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

/** Lists what a plugin reads and fetches without a grant, with the line of its entry that would grant it. */
function missingGrants(entry: PluginEntry, { reads }: ServingVersion): string[] {
  const grants = grantsOf(entry);
  const env = reads.environment.filter((name) => entry.permissions?.env.includes(name) !== true);
  const hosts = reads.hosts.filter((host) => hostRefusal(host, grants.hosts) !== undefined);
  const wanted = { ...(env.length > 0 && { env }), ...(hosts.length > 0 && { hosts }) };
  if (Object.keys(wanted).length === 0) return [];
  const pasted = { id: entry.id, path: entry.path, permissions: { relayers: {}, kv: true, ...wanted } };
  return [
    ...(env.length > 0 ? [`reads, and is not granted: ${env.join(', ')}`] : []),
    ...(hosts.length > 0 ? [`names, and may not fetch from: ${hosts.join(', ')}`] : []),
    entry.permissions === undefined
      ? `to grant it, among "plugins" of config.json, with its relayers: ${JSON.stringify(pasted)}`
      : `to grant it, in its permissions: ${JSON.stringify(wanted).slice(1, -1)}`,
  ];
}
