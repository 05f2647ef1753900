import type { FastifyServerOptions } from 'fastify';

function refuse(): never {
  throw new Error('Schemas are checked by zod, and answers are written by writeJson');
}

/**
 * Turns off Fastify's own compilers of JSON schemas. No route uses them, and every start would load them. Adding a
 * route that needs one throws.
 */
export const noSchemaCompilers: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};
