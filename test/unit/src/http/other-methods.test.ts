import { fastify } from 'fastify';
import t from 'tap';
import { AppError } from '../../../../src/domain/errors.ts';
import { refuseOtherMethods } from '../../../../src/http/other-methods.ts';
import { collectRoutes } from '../../../../src/http/route-table.ts';

t.test('a known path refuses the methods it does not have and names those it has', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  app.setErrorHandler((error, _request, reply) => reply.code((error as AppError).status).send(String(error)));
  const publicPaths: string[] = [];
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isPublic === true) publicPaths.push(request.url);
  });
  const table = collectRoutes(app);
  app.get('/things/:id', async () => 'thing');
  app.post('/things/:id', async () => 'made');
  app.get('/open', { config: { isPublic: true } }, async () => 'open');
  refuseOtherMethods(app, table);

  t.equal((await app.inject({ method: 'POST', url: '/things/1' })).body, 'made');
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'] as const) {
    const refused = await app.inject({ method: method as 'GET', url: '/things/1' });
    t.equal(refused.statusCode, 405, method);
    t.equal(refused.headers.allow, 'GET, HEAD, POST');
  }
  t.equal((await app.inject({ method: 'POST', url: '/open' })).headers.allow, 'GET, HEAD');
  t.strictSame(publicPaths, ['/open'], 'the refusal is as public as the route');
  for (const method of ['PUT', 'TRACE'])
    t.equal((await app.inject({ method: method as 'GET', url: '/elsewhere' })).statusCode, 404);
});

t.test('the error is the one of the table', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  let thrown: unknown;
  app.setErrorHandler((error, _request, reply) => {
    thrown = error;
    return reply.code(405).send('');
  });
  const table = collectRoutes(app);
  app.get('/a', async () => '');
  refuseOtherMethods(app, table);
  await app.inject({ method: 'DELETE', url: '/a' });
  t.ok(thrown instanceof AppError);
  t.match(thrown, { message: 'DELETE is not allowed here; allowed: GET, HEAD' });
});
