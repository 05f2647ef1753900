import { isObject, type Json, type JsonObject } from '../../src/domain/json/json.ts';

interface Described {
  operationId: string;
  parameters: { name: string; in: string; schema: JsonObject }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
  'x-internal'?: boolean;
  'x-permission'?: string;
}

/** The types and the routes of the API's description, as a source file of the client. */
export function apiText(document: JsonObject): string {
  const { schemas } = document['components'] as { schemas: JsonObject };
  const operations = Object.entries(document['paths'] as unknown as Record<string, Record<string, Described>>)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ path, method, ...one })))
    .filter((one) => one['x-internal'] !== true);
  return [
    '// Made by `npm run client` from the description of the API; a test holds it to that.',
    '',
    '/** What the API takes and answers. */',
    'export interface Schemas {',
    ...Object.entries(schemas).map(([name, schema]) => `  ${JSON.stringify(name)}: ${typeText(schema)};`),
    '}',
    '',
    '/** What each operation takes and answers. */',
    'export interface Operations {',
    ...operations.map((one) => `  ${one.operationId}: ${operationText(one)};`),
    '}',
    '',
    '/** Where each operation is, and what it takes of a key; without a permission no more than the key, if that. */',
    'export const ROUTES: Readonly<',
    '  Record<keyof Operations, readonly [method: string, path: string, permission?: string]>',
    '> = {',
    ...operations.map((one) => `  ${one.operationId}: [${routeText(one)}],`),
    '};',
    '',
  ].join('\n');
}

function routeText({ method, path, 'x-permission': permission }: Described & { method: string; path: string }): string {
  return [method.toUpperCase(), path, ...(permission === undefined ? [] : [permission])]
    .map((text) => `'${text}'`)
    .join(', ');
}

function operationText({ parameters, requestBody, responses }: Described): string {
  const fields = (place: string) =>
    parameters
      .filter((one) => one.in === place)
      .map(({ name, schema }) => `${JSON.stringify(name)}${place === 'path' ? '' : '?'}: ${typeText(schema)}`);
  const [path, query] = [fields('path'), fields('query')];
  const body = requestBody?.content['application/json']?.schema;
  const [[, success]] = Object.entries(responses).filter(([status]) => status.startsWith('2')) as [
    [string, Described['responses'][string]],
  ];
  const answer = Object.values(success.content ?? {})[0]?.schema;
  const input = [
    ...(path.length > 0 ? [`path: { ${path.join('; ')} }`] : []),
    ...(query.length > 0 ? [`query?: { ${query.join('; ')} }`] : []),
    ...(body === undefined ? [] : [`body: ${typeText(body)}`]),
    ...(parameters.some(({ name }) => name === 'Idempotency-Key') ? ['idempotencyKey?: string'] : []),
  ];
  return `{ input: { ${input.join('; ')} }; answer: ${typeText(answer)} }`;
}

const REFERENCE = '#/components/schemas/';

/** A JSON schema as a type of TypeScript, on one line. */
export function typeText(schema: Json | undefined): string {
  if (!isObject(schema)) return 'unknown';
  if (typeof schema['typeText'] === 'string') return schema['typeText'];
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
