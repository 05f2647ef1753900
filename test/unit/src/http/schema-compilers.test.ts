import { createRequire } from 'node:module';
import { fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import t from 'tap';
import { z } from 'zod';
import { noSchemaCompilers } from '../../../../src/http/schema-compilers.ts';

const require = createRequire(import.meta.url);
const loaded = (name: string) => Object.keys(require.cache).some((path) => path.includes(`/node_modules/${name}/`));

t.test("a server checks by zod's schemas and loads no other compiler", async (t) => {
  const app = fastify({ schemaController: noSchemaCompilers });
  t.teardown(() => app.close());
  app.setValidatorCompiler(validatorCompiler);
  await app.register(async (inner) => {
    inner.get('/:id', { schema: { params: z.object({ id: z.string().max(3) }) } }, async ({ params }) => params);
  });
  t.equal((await app.inject('/abc')).body, '{"id":"abc"}');
  t.equal((await app.inject('/abcd')).statusCode, 400);
  t.ok(loaded('fastify'));
  t.notOk(loaded('ajv'));
  t.notOk(loaded('@fastify/fast-json-stringify-compiler'));
});

t.test('a route that needs a compiler of JSON schemas stops the start', async (t) => {
  for (const schema of [{ response: { 200: { type: 'string' } } }, { params: { type: 'object' } }]) {
    const app = fastify({ schemaController: noSchemaCompilers });
    t.teardown(() => app.close());
    app.get('/', { schema }, async () => 'never');
    await t.rejects(async () => await app.ready(), /checked by zod/);
  }
});
