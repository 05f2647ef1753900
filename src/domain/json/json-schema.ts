import { z } from 'zod';
import type { JsonObject } from './json.ts';

/** What a schema is described for: what may be sent (`input`), or what comes out (`output`). */
export type Direction = 'input' | 'output';

/**
 * Describes named zod schemas in JSON Schema 2020-12. Where one of them stands inside another, it is referred to by
 * `refer(name)`; what JSON Schema cannot say, such as a rule between two fields, is left out.
 */
export function jsonSchemas(
  named: Readonly<Record<string, z.ZodType>>,
  direction: Direction,
  refer: (name: string) => string,
): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: direction,
    unrepresentable: 'any',
    uri: refer,
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      const { anyOf, description } = jsonSchema;
      if (anyOf !== undefined && jsonSchema.type !== undefined) {
        // Alternatives that were written by hand say more than what the schema ends in.
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, { anyOf, ...(description === undefined ? {} : { description }) });
      }
      if (direction === 'input' && def.type === 'pipe' && saysNothing(jsonSchema)) {
        Object.assign(jsonSchema, plain(z.toJSONSchema(def.out, { io: direction, unrepresentable: 'any' })));
      }
    },
  });
  const entries = Object.entries(schemas).filter(([name]) => name !== RECURSIVE);
  return Object.fromEntries(entries.map(([name, schema]) => [name, plain(schema)]));
}

/** Where zod puts what contains itself. With us that is `z.json()` only: anything goes. */
const RECURSIVE = '__shared';

/** A pipe that takes anything and then looks at it describes itself by what it looks for. */
function saysNothing(schema: z.core.JSONSchema.BaseSchema): boolean {
  if (schema.type === 'array') return typeof schema.items === 'object' && Object.keys(schema.items).length === 0;
  return Object.keys(schema).length === 0;
}

/** Without the marks of a document of its own, and without the keys that are no data. */
function plain(schema: object): JsonObject {
  const isRecursive = (value: unknown) =>
    typeof value === 'object' && value !== null && '$ref' in value && String(value.$ref).includes(RECURSIVE);
  const reviver = (_key: string, value: unknown) => (isRecursive(value) ? {} : value);
  const { $schema: _, $id: __, ...rest } = JSON.parse(JSON.stringify(schema), reviver) as JsonObject;
  return rest;
}
