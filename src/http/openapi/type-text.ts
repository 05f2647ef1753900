import type { Json, JsonObject } from '../../domain/json.ts';

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;

/** A schema in a few words of HTML: its type, bounds and values; a named one is a link to where it is shown. */
export function typeText(schema: JsonObject): string {
  const { $ref: reference, anyOf: alternatives, type = 'any' } = schema;
  const [, name] = (typeof reference === 'string' && REFERENCE.exec(reference)) || [];
  if (name !== undefined) return `<a href="#schema-${name}">${name}</a>`;
  if (Array.isArray(alternatives)) return alternatives.map((one) => typeText(one as JsonObject)).join(' or ');
  const facts = [
    fact('one of', schema['enum']),
    fact('from', schema['minimum']),
    fact('to', schema['maximum']),
    fact('default', schema['default']),
  ].filter((one) => one !== '');
  return [listed(type, ' or '), ...facts].join(', ');
}

function fact(label: string, value: Json | undefined): string {
  return value === undefined ? '' : `${label} <code>${listed(value, ', ')}</code>`;
}

/** Types and values are words and numbers. */
function listed(value: Json, separator: string): string {
  const words = Array.isArray(value) ? value : [value];
  return words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(separator);
}
