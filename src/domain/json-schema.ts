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
      if (direction === 'input' && def.type === 'pipe' && saysNothing(jsonSchema)) {
        Object.assign(jsonSchema, plain(z.toJSONSchema(def.out, { io: direction, unrepresentable: 'any' })));
      }
    },
  });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]));
}

/** A pipe that takes anything and then looks at it describes itself by what it looks for. */
function saysNothing(schema: z.core.JSONSchema.BaseSchema): boolean {
  if (schema.type === 'array') return typeof schema.items === 'object' && Object.keys(schema.items).length === 0;
  return Object.keys(schema).length === 0;
}

/** Without the marks of a document of its own, and without the keys that are no data. */
function plain(schema: object): JsonObject {
  const { $schema: _, $id: __, ...rest } = JSON.parse(JSON.stringify(schema)) as JsonObject;
  return rest;
}
