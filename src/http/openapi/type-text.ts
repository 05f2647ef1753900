import type { Json, JsonObject } from '../../domain/json.ts';

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;

/** A schema in a few words of HTML: its type, bounds and values; a named one is a link to where it is shown. */
export function typeText(schema: JsonObject): string {
  const [, name] = REFERENCE.exec(String(schema['$ref'])) ?? [];
  if (name !== undefined) return `<a href="#schema-${name}">${name}</a>`;
  const either = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(either)) return either.map((one) => typeText(one as JsonObject)).join(' or ');
  const type = [schema['type'] ?? 'any'].flat().join(' or ');
  const facts = [
    fact('one of', listed(schema['enum'])),
    fact('from', schema['minimum']),
    fact('to', schema['maximum']),
    fact('default', schema['default']),
  ].filter((one) => one !== '');
  return [type, ...facts].join(', ');
}

function fact(label: string, value: Json | undefined): string {
  return value === undefined ? '' : `${label} <code>${String(value)}</code>`;
}

function listed(values: Json | undefined): string | undefined {
  return Array.isArray(values) ? values.map(String).join(', ') : undefined;
}
