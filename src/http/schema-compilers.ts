import type { FastifyServerOptions } from 'fastify';

function refuse(): never {
  throw new Error('Schemas are checked by zod, and answers are written by writeJson');
}

/**
 * Fastify without its own compilers of JSON schemas, which no route uses: it would load them with every start. A route
 * that needs one fails when it is added.
 */
export const noSchemaCompilers: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};
