import { isObject, type Json, type JsonObject } from '../../src/domain/json/json.ts';

const REFERENCE = '#/components/schemas/';

/** A JSON schema as a type of TypeScript, on one line. */
export function typeText(schema: Json | undefined): string {
  if (!isObject(schema)) return 'unknown';
  const { $ref: reference, enum: values, const: constant, anyOf, oneOf, allOf, type } = schema;
  if (typeof reference === 'string') return `Schemas[${JSON.stringify(reference.slice(REFERENCE.length))}]`;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ') || 'never';
  const some = anyOf ?? oneOf;
  if (Array.isArray(some)) return [...new Set(some.map(typeText))].join(' | ') || 'unknown';
  if (Array.isArray(allOf)) return allOf.map((one) => `(${typeText(one)})`).join(' & ');
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one })).join(' | ');
  return ofType(schema);
}

function ofType(schema: JsonObject): string {
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return schema['type'];
    case 'integer':
      // What may go beyond 2^53 is read without losing a digit.
      return schema['maximum'] === undefined ? 'number | bigint' : 'number';
    case 'array':
      return listText(schema);
    case 'object':
      return objectText(schema);
    default:
      return schema['properties'] === undefined ? 'unknown' : objectText(schema);
  }
}

function listText({ items, prefixItems }: JsonObject): string {
  if (Array.isArray(prefixItems)) return `[${prefixItems.map(typeText).join(', ')}]`;
  return `(${typeText(items)})[]`;
}

function objectText({ properties, required, additionalProperties }: JsonObject): string {
  const fields = Object.entries((properties ?? {}) as JsonObject).map(([name, schema]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return `${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeText(schema)}`;
  });
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  return isObject(additionalProperties) ? `Record<string, ${typeText(additionalProperties)}>` : '{}';
}
