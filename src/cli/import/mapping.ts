import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { isObject } from '../../domain/json/json.ts';
import type { pluginEntrySchema } from '../../features/plugins/records/plugin.ts';
import { type Trigger, triggerSchema } from '../../features/triggers/records/trigger.ts';
import { checked, type ForeignScript, fetches, readJson } from './foreign-script.ts';

type Entry = z.input<typeof pluginEntrySchema>;
type Triggers = NonNullable<Entry['triggers']>;

/** A plugin made of a script of another host. */
export interface Mapping {
  /** What it is, for people. */
  about: string;
  entry: Entry & { permissions: { env: string[] } };
  /** Files beside those of the script, with their texts. */
  written: Record<string, string>;
  /** What is left for people to do. */
  todo: string[];
  unmapped: string[];
}

export interface MappingWishes {
  id: string;
  relayer: string;
  options: ReadonlyMap<string, string>;
}

/** A run waits until what it sent is in a block, and no longer than this. In seconds. */
const LONGEST_RUN = 3600;
const SENT_TWICE =
  'Switch it off where it ran before: a running service takes up the entry at once, and both would send';
const SENDER = 'Contracts see the account of the relayer as their caller (msg.sender): allow it where they check';

/** Makes an entry of what a script's folder says, and lists what it could not take over. */
export async function mapScript(script: ForeignScript, wishes: MappingWishes): Promise<Mapping> {
  const asked = triggerOf(wishes.options);
  return script.kind === 'gelato' ? await mapFunction(script, wishes, asked) : await mapAction(script, wishes, asked);
}

/** The trigger that the command line names. @throws Error when it is none */
function triggerOf(options: ReadonlyMap<string, string>): Triggers {
  const [every, cron, zone] = ['every', 'cron', 'time-zone'].map((name) => options.get(name));
  if (every === undefined && cron === undefined) return [];
  const given = { name: 'schedule', ...(every && { every }), ...(cron && { cron }), ...(zone && { time_zone: zone }) };
  return [checkedTrigger(given)];
}

function checkedTrigger(given: object): Trigger {
  const { data, error } = triggerSchema.safeParse(given);
  if (data !== undefined) return data;
  throw new Error(
    error.issues.map(({ path, message }) => `--${path.join('.').replace('_', '-')}: ${message}`).join('; '),
  );
}

function permissionsOf({ code, env, hosts }: ForeignScript, relayer: string, recipients: readonly string[] = []) {
  const methods = ['read' as const, 'send' as const, 'rpc' as const];
  const usesKv = /\bstorage\b|kvstore|keyValueStore|KeyValueStoreClient/.test(code);
  return {
    relayers: { [relayer]: recipients.length === 0 ? methods : { methods, recipients: [...recipients] } },
    kv: usesKv,
    env: [...env],
    hosts: [...hosts],
  };
}

function hostNotes({ code, hosts }: ForeignScript): string[] {
  return fetches(code) && hosts.length === 0
    ? ['It fetches, and spells out no host: grant those that it needs with permissions.hosts']
    : [];
}

const NO_TRIGGER = 'When it runs: say --every 5m or --cron "…", or write "triggers" into the entry';

const functionSchema = z.object({
  memory: z.unknown().optional(),
  userArgs: z.record(z.string(), z.string()).default({}),
});

/** A Web3 Function: `schema.json`, `userArgs.json` and `storage.json` beside its code. */
async function mapFunction(script: ForeignScript, { id, relayer }: MappingWishes, asked: Triggers): Promise<Mapping> {
  const { folder, main, code } = script;
  const beside = async <T>(file: string, form: z.ZodType<T>) => {
    const value = await readJson(join(folder, file));
    return value === undefined ? undefined : checked(form, value, file);
  };
  const schema = await beside('schema.json', functionSchema);
  const userArgs = (await beside('userArgs.json', z.record(z.string(), z.json()))) ?? {};
  const stored = Object.keys((await beside('storage.json', z.record(z.string(), z.unknown()))) ?? {});
  const { memory, userArgs: wanted = {} } = schema ?? {};
  const chains = [...code.matchAll(/\bchainId\s*\(\s*(\d+)\s*\)/g)].map(([, chain = '']) => chain);
  return {
    about: `a Web3 Function of Gelato; ${main} runs as it is`,
    entry: {
      ...{ id, path: `${id}/${main}`, durable: true, timeout: LONGEST_RUN },
      config: { relayer, userArgs },
      permissions: permissionsOf(script, relayer),
      ...(memory === 256 || memory === 512 ? { limits: { memory_mb: memory } } : {}),
      ...(asked.length > 0 && { triggers: asked }),
    },
    written: {},
    todo: [
      SENT_TWICE,
      SENDER,
      ...(asked.length === 0 ? [`Gelato keeps with the task, not in the folder, when it runs. ${NO_TRIGGER}`] : []),
      ...hostNotes(script),
    ],
    unmapped: [
      ...(schema === undefined ? ['There is no schema.json: memory and arguments are not known'] : []),
      ...argumentProblems(wanted, userArgs),
      ...[...new Set(chains)].map(
        (chain) =>
          `It reads chain ${chain}: name a relayer there in config.relayers, { "${chain}": "…" }, with "read" and "rpc" in permissions, unless it is that of ${relayer}`,
      ),
      ...(stored.length > 0
        ? [`storage.json has first values, and the plugin's storage begins empty: ${stored.join(', ')}`]
        : []),
    ],
  };
}

function argumentProblems(
  wanted: Readonly<Record<string, string>>,
  given: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(wanted).flatMap(([name, type]) => {
    const value = given[name];
    if (value === undefined) return [`userArgs.${name} (${type}) has no value: write it into config.userArgs`];
    const isList = type.endsWith('[]');
    const values: unknown[] = isList && Array.isArray(value) ? value : [value];
    const isRight = isList === Array.isArray(value) && values.every((one) => typeof one === type.replace('[]', ''));
    return isRight ? [] : [`userArgs.${name} has to be ${type}`];
  });
}

/** What is taken over of an Action in a `serverless.yml`. */
const actionSchema = z.object({
  name: z.string().nullish(),
  relayer: z.unknown().optional(),
  paused: z.boolean().nullish(),
  trigger: z.object({ type: z.string(), frequency: z.unknown().optional(), cron: z.string().nullish() }).nullish(),
  'environment-variables': z.record(z.string(), z.unknown()).nullish(),
});

type Action = z.output<typeof actionSchema>;

const policySchema = z.looseObject({ 'whitelist-receivers': z.array(z.string()).nullish() });

/** An Action, with what a `serverless.yml` in its folder or above says of it. */
async function mapAction(script: ForeignScript, { id, relayer }: MappingWishes, asked: Triggers): Promise<Mapping> {
  const { action, policy } = await findAction(script.folder);
  const recipients = policy['whitelist-receivers'] ?? [];
  const found = action === undefined ? undefined : triggersOfAction(action, id);
  const triggers = asked.length > 0 ? asked : (found?.triggers ?? []);
  const isPaused = action?.paused === true;
  const variables = Object.keys(action?.['environment-variables'] ?? {});
  const permissions = permissionsOf(script, relayer, recipients);
  return {
    about: 'an Action of Defender; plugin.cjs gives it its event',
    entry: {
      ...{ id, path: `${id}/plugin.cjs`, durable: true, timeout: LONGEST_RUN },
      config: { relayer, ...(typeof action?.name === 'string' && { name: action.name }) },
      permissions: { ...permissions, env: [...new Set([...permissions.env, ...variables])].sort() },
      ...(triggers.length > 0 && !isPaused && { triggers }),
    },
    // Its own file: a handler that never imports Defender, or does so late, gets an event as well.
    written: {
      'plugin.cjs': `// Written by \`isolayer import\`: gives the Action the event that it expects.\nrequire('@openzeppelin/defender-sdk');\nmodule.exports = require(${JSON.stringify(`./${script.main}`)});\n`,
    },
    todo: [
      SENT_TWICE,
      SENDER,
      ...(asked.length > 0 ? [] : (found?.todo ?? [`No serverless.yml says when it runs. ${NO_TRIGGER}`])),
      ...hostNotes(script),
    ],
    unmapped: [
      ...(isPaused ? [`It is paused, so no trigger was written: ${JSON.stringify(triggers)}`] : []),
      ...Object.entries(policy)
        .filter(([name]) => name !== 'whitelist-receivers')
        .map(
          ([name, value]) => `Its relayer's policy ${name} (${String(value)}): set it in the policies of ${relayer}`,
        ),
      ...(asked.length > 0 ? [] : (found?.unmapped ?? [])),
    ],
  };
}

/** What the nearest `serverless.yml`, in the folder or three above, says of the Action, and of its relayer's policy. */
async function findAction(folder: string): Promise<{ action?: Action; policy: z.output<typeof policySchema> }> {
  for (let at = folder, above = 0; above < 4; at = dirname(at), above++) {
    const file = ['serverless.yml', 'serverless.yaml'].map((name) => join(at, name)).find((one) => existsSync(one));
    if (file === undefined) continue;
    const all = parts(await readYaml(file));
    const { Resources, ...direct } = parts(all['resources']);
    const resources = Resources === undefined ? direct : parts(Resources);
    const actions = Object.values(parts(all['functions'] ?? resources['actions'])).map(parts);
    const found = actions.find(({ path }) => typeof path === 'string' && resolve(at, path) === folder);
    if (found === undefined) return { policy: {} };
    const relayer = parts(referred(resources['relayers'], found['relayer']));
    const policy = parts(referred(resources['policies'], relayer['policy']));
    return { action: checked(actionSchema, found, file), policy: checked(policySchema, policy, file) };
  }
  return { policy: {} };
}

async function readYaml(file: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    throw new Error(`${file} is no YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The members of an object. Anything else has none: the file may be of another tool, or say more than is known here. */
function parts(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** What `${self:resources.….name}` means, or what stands in its place. */
function referred(named: unknown, reference: unknown): unknown {
  const name = /^\$\{self:[\w.]*\.([\w-]+)\}$/.exec(String(reference))?.[1];
  return name === undefined ? reference : parts(named)[name];
}

function triggersOfAction({ trigger }: Action, id: string) {
  const { type, frequency, cron } = trigger ?? {};
  const none = { triggers: [] as Triggers, todo: [] as string[], unmapped: [] as string[] };
  if (type === 'schedule') {
    const given = { name: 'schedule', ...(typeof cron !== 'string' ? { every: `${String(frequency)}m` } : { cron }) };
    const { data } = triggerSchema.safeParse(given);
    if (data !== undefined) return { ...none, triggers: [data] };
    return { ...none, unmapped: [`Its schedule ${JSON.stringify(trigger)}. ${NO_TRIGGER}`] };
  }
  if (type === 'webhook' || type === 'sentinel' || type === 'monitor' || type === 'monitor-filter') {
    const value = `${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_SECRET`;
    const name = type === 'webhook' ? 'webhook' : 'monitor';
    const path = `POST /api/v1/hooks/${id}/${name}`;
    const caller =
      type === 'webhook' ? 'Who called the URL of Defender' : 'OpenZeppelin Monitor takes the place of Defender’s, and';
    return {
      ...none,
      triggers: [{ name, on: 'webhook' as const, secret: { type: 'env' as const, value } }],
      todo: [`${caller} now calls ${path}, signed with the secret in ${value} (docs/plugins.md)`],
      unmapped: type === 'monitor-filter' ? ['It filters matches for a monitor: nothing reads what it returns'] : [],
    };
  }
  return { ...none, unmapped: [`Its trigger ${JSON.stringify(trigger)}. ${NO_TRIGGER}`] };
}
