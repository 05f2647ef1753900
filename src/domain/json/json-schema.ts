import { z } from 'zod';
import type { JsonObject } from './json.ts';

/** What a schema is described for: what may be sent (`input`), or what comes out (`output`). */
export type SchemaDirection = 'input' | 'output';

/**
 * Describes named zod schemas in JSON Schema 2020-12. A named schema inside another becomes a reference to
 * `refer(name)`. Rules that JSON Schema cannot say, such as one between two fields, are left out.
 */
export function jsonSchemas(
  named: Readonly<Record<string, z.ZodType>>,
  direction: SchemaDirection,
  refer: (name: string) => string,
): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const options: Parameters<typeof z.toJSONSchema>[1] = {
    io: direction,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      const { anyOf, description } = jsonSchema;
      if (anyOf !== undefined && jsonSchema.type !== undefined) {
        // Alternatives written by hand say more than the type that the schema ends in.
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, { anyOf, ...(description === undefined ? {} : { description }) });
      }
      if (direction === 'input' && def.type === 'pipe' && saysNothing(jsonSchema)) {
        Object.assign(jsonSchema, plain(z.toJSONSchema(def.out, options)));
      }
    },
  };
  const { schemas } = z.toJSONSchema(registry, { ...options, uri: refer });
  const entries = Object.entries(schemas).filter(([name]) => name !== RECURSIVE);
  return Object.fromEntries(entries.map(([name, schema]) => [name, plain(schema)]));
}

/** The name under which zod puts recursive schemas. The only one here is `z.json()`, which allows anything. */
const RECURSIVE = '__shared';

/** Whether a schema allows anything. A pipe with such an input is described by its output instead. */
function saysNothing(schema: z.core.JSONSchema.BaseSchema): boolean {
  if (schema.type === 'array') return typeof schema.items === 'object' && Object.keys(schema.items).length === 0;
  return Object.keys(schema).length === 0;
}

/** Copies a schema as plain data, without `$schema` and `$id`. A reference to a recursive schema becomes `{}`. */
function plain(schema: object): JsonObject {
  const isRecursive = (value: unknown) =>
    typeof value === 'object' && value !== null && '$ref' in value && String(value.$ref).includes(RECURSIVE);
  const reviver = (_key: string, value: unknown) => (isRecursive(value) ? {} : value);
  const { $schema: _, $id: __, ...rest } = JSON.parse(JSON.stringify(schema), reviver) as JsonObject;
  return rest;
}
