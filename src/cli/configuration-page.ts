import { needsRestart, type SectionName } from '../config/changes.ts';
import type { JsonObject } from '../domain/json/json.ts';

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

Made by \`npm run isolayer -- schema --page\` from what a start checks the files by; do not edit it.

The service reads \`config/config.json\` and, unless that has \`networks\`, each JSON file in \`config/networks/\`.
\`npm run isolayer -- check-config\` says what is wrong with them. Environment variables are in
[operations.md](operations.md).

The files are looked at each second while it runs. What is \`live\` below counts as soon as it is saved, new entries
included; what clients changed over the API stays theirs until the file says something else of that field. What waits for
a \`restart\` is named in the log with its place. Files that cannot be used change nothing, and the log says all that is
wrong with them. A new relayer waits for a restart beside a new signer or network, and where a relayer's network or signer
changes, the other changes of its entry wait with it. A relayer or notification that is taken out stays as it is stored.

\`a.b\` is the field \`b\` of the object \`a\`, \`a[].b\` that of each entry of a list, \`a.<key>\` that under any key. Amounts are
whole numbers in the smallest unit, in quotes where they are beyond 2^53.
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
  const ofFamily = { description: `${policies?.description}; by family, below`, type: 'object' };
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
  return ['| field | value | when absent | applied | meaning |', '| --- | --- | --- | --- | --- |', ...lines].join(
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
    return typeof schema.additionalProperties === 'object' ? 'object of any keys' : 'object';
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
