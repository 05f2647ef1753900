import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { systemClock } from '../domain/clock.ts';
import type { JsonObject } from '../domain/json/json.ts';
import { needsRestart, type SectionName } from '../settings/changes.ts';
import { configurationSchema, networkFileSchema } from '../settings/file-schema.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { Command } from './command.ts';
import { readCommandEnvironment } from './settings.ts';

/** Writes the JSON schemas that editors use to complete and check the configuration. */
export const schemaCommand: Command = {
  usage: 'schema [--page]',
  summary:
    'Write schema.json and networks.schema.json into CONFIG_DIR, for editors; or docs/configuration.md, for people',
  flags: ['page'],
  arguments: 0,
  async run(context, { flags }) {
    const chains = createChains(systemClock);
    const schema = configurationSchema(chains, createSignerKinds());
    const write = async (path: string, text: string) => {
      await writeFile(path, text);
      context.say(`Written: ${path}`);
    };
    if (flags.has('page')) {
      await write(resolve(context.cwd, 'docs', 'configuration.md'), configurationPage(schema));
      return 0;
    }
    const { CONFIG_DIR } = await readCommandEnvironment(context);
    const files = { 'schema.json': schema, 'networks.schema.json': networkFileSchema(chains) };
    for (const [name, content] of Object.entries(files)) {
      await write(resolve(context.cwd, CONFIG_DIR, name), `${JSON.stringify(content, null, 2)}\n`);
    }
    return 0;
  },
};

/** The parts of JSON schema that the configuration's schemas use. */
interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Row {
  name: string;
  type: string;
  isRequired: boolean;
  fallback: string;
  meaning: string;
}

const HEAD = `# Every field of the configuration

\`npm run isolayer -- schema --page\` makes this page from the schemas that check the files at a start. Do not edit it.

The service reads \`config/config.json\`. If that file has no \`networks\`, the service also reads each JSON file in
\`config/networks/\`. \`npm run isolayer -- check-config\` shows the errors in these files. Environment variables are in
[operations.md](operations.md).

The running service looks at the files every second. The column "Applied" says when a change takes effect:

- \`live\`: as soon as the file is saved, also for new entries. If a client has changed a field over the API, the
  client's value stays until the file has a new value for that field.
- \`restart\`: at the next start. The log names the place of each change that waits.

If a file has errors, nothing changes, and the log lists all errors. A new relayer waits for a restart if its signer or
network is new, too. If the network or signer of a relayer changes, the other changes of its entry also wait. A relayer
or notification that you remove from the file stays stored as it was.

\`a.b\` is the field \`b\` of the object \`a\`. \`a[].b\` is the field \`b\` of each entry of the list \`a\`.
\`a.<key>\` is any key of the object \`a\`. An amount is a whole number in the smallest unit. Write amounts above 2^53
in quotes.
`;

/** Makes the documentation page, in Markdown, from the schema for editors. */
export function configurationPage(schema: JsonObject): string {
  const root = schema as unknown as Schema & { $defs: Record<string, Schema> };
  const { Relayer = {}, Signer = {}, Notification = {}, Network = {}, Plugin = {} } = root.$defs;
  const section = (title: string, about: string, parts: string[]) => [`## ${title}`, about, ...parts].join('\n\n');
  const sectionOf = (key: string) => root.properties?.[key]?.description ?? '';
  const kinds = Relayer.anyOf ?? [Relayer];
  const signers = Signer.anyOf ?? [Signer];
  return [
    HEAD.trim(),
    section('`relayers[]`', sectionOf('relayers'), [
      tableOf('relayers', commonOf(kinds)),
      ...kinds.map((kind) => {
        const title = `policies\` of \`${constOf(kind, 'network_type')}`;
        return titled(title, tableOf('relayers', kind.properties?.['policies'], 'policies'));
      }),
    ]),
    section('`signers[]`', sectionOf('signers'), [
      ...signers.map((kind) => titled(`type": "${constOf(kind, 'type')}`, tableOf('signers', kind))),
    ]),
    section('`notifications[]`', sectionOf('notifications'), [tableOf('notifications', Notification)]),
    section('`networks[]`', sectionOf('networks'), [tableOf('networks', Network)]),
    section('`plugins[]`', sectionOf('plugins'), [tableOf('plugins', Plugin)]),
    '',
  ].join('\n\n');
}

/** Returns the fields of relayers of any family. Each family's policies have a table of their own. */
function commonOf(kinds: Schema[]): Schema {
  const [first = {}] = kinds;
  const { network_type: type, policies, ...rest } = first.properties ?? {};
  const families = { description: type?.description ?? '', enum: kinds.map((kind) => constOf(kind, 'network_type')) };
  const ofFamily = { description: `${policies?.description}; fields by network type below`, type: 'object' };
  return { ...first, properties: { ...rest, network_type: families, policies: ofFamily } };
}

function constOf(kind: Schema, field: string): string {
  const value = kind.properties?.[field]?.const;
  return typeof value === 'string' ? value : '';
}

function titled(name: string, table: string): string {
  return `### \`${name}\`\n\n${table}`.replace('`type": ', '`"type": ').replace(/(`"type": "[^"`]*)`/, '$1"`');
}

/** @param holder the entry's field that contains these fields; absent: they are the entry's own */
function tableOf(section: SectionName, schema: Schema = {}, holder?: string): string {
  const rows = rowsOf(schema, '');
  const lines = rows.map(({ name, type, isRequired, fallback, meaning }) => {
    const [field = ''] = name.split(/[.[]/);
    const applied = needsRestart(section, holder ?? field) ? 'restart' : 'live';
    return cells([`\`${name}\``, type, isRequired ? 'required' : fallback, applied, meaning]);
  });
  return ['| Field | Type | Default | Applied | What it does |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}

function cells(texts: string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

function rowsOf(schema: Schema, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== '$schema')
    .flatMap(([name, field]) => {
      const path = `${prefix}${name}`;
      const row = {
        name: path,
        type: typeOf(field),
        isRequired: schema.required?.includes(name) === true,
        fallback: defaultOf(field),
        meaning: field.description ?? '',
      };
      return [row, ...rowsBelow(field, path)];
    });
}

/** Returns the rows of all nested fields of a field, in all its forms. */
function rowsBelow(field: Schema, path: string): Row[] {
  const own = field.properties === undefined ? [] : rowsOf(field, `${path}.`);
  const each = field.items === undefined ? [] : rowsBelow(field.items, `${path}[]`);
  const { additionalProperties: any } = field;
  const keyed = typeof any === 'object' ? rowsBelow(any, `${path}.<key>`) : [];
  const forms = (field.anyOf ?? field.oneOf ?? []).flatMap((form) => rowsBelow(form, path));
  return [...own, ...each, ...keyed, ...forms];
}

function defaultOf({ default: value, anyOf = [] }: Schema): string {
  if (value === undefined) return [...new Set(anyOf.map(defaultOf).filter((text) => text !== ''))].join(' or ');
  const text = JSON.stringify(value);
  // The fields of an object show their own defaults.
  return typeof value === 'object' && text.length > 2 ? 'as below' : `\`${text}\``;
}

function typeOf(schema: Schema): string {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return eitherOf(forms);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(', ');
  if (Array.isArray(schema.type)) return eitherOf(schema.type.map((type) => ({ ...schema, type })));
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object')
    return typeof schema.additionalProperties === 'object' ? 'object with any keys' : 'object';
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'integer' || schema.type === 'number') return rangeOf(schema);
  if (schema.type === 'string') return schema.format === 'uri' ? 'URL' : 'text';
  return 'any';
}

function eitherOf(forms: Schema[]): string {
  const isAmount = forms.length === 2 && forms[0]?.type === 'integer' && forms[1]?.pattern?.startsWith('^\\d') === true;
  if (isAmount) return 'amount';
  // Null means the same as absent.
  const texts = forms.filter(({ type }) => type !== 'null').map(typeOf);
  return [...new Set(texts)].join(' or ');
}

function rangeOf({ type, minimum, maximum }: Schema): string {
  const kind = type === 'integer' ? 'whole number' : 'number';
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return kind;
  return most === undefined ? `${kind} from ${minimum}` : `${kind}, ${minimum} to ${most}`;
}
