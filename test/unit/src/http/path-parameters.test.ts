import { fastify } from 'fastify';
import t from 'tap';
import { makeParametersStorable } from '../../../../src/http/path-parameters.ts';

t.test('a parameter has only what a database takes, the tail of a path is left alone', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  makeParametersStorable(app);
  app.get('/things/:id/parts/:part', async (request) => request.params);
  app.get('/things/:id/*', async (request) => request.params);

  const parts = await app.inject('/things/a%00b/parts/%00%f0%9f%9a%80');
  t.strictSame(parts.json(), { id: 'a\u{fffd}b', part: '\u{fffd}🚀' });
  t.strictSame((await app.inject('/things/a-1_b/parts/é')).json(), { id: 'a-1_b', part: 'é' });
  t.strictSame((await app.inject('/things/%00/tail%00')).json(), { id: '\u{fffd}', '*': 'tail\0' });
  t.equal((await app.inject('/elsewhere/%00')).statusCode, 404);
});
