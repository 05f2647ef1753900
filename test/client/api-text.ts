import type { Json, JsonObject } from '../../src/domain/json/json.ts';
import { typeText } from './type-text.ts';

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
