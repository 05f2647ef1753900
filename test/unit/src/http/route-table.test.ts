import { fastify } from 'fastify';
import t from 'tap';
import { refuseOtherMethods } from '../../../../src/http/other-methods.ts';
import { collectRoutes } from '../../../../src/http/route-table.ts';

t.test('every route with its schema; refusals are no routes', (t) => {
  const app = fastify();
  const table = collectRoutes(app);
  const schema = { summary: 'x' };
  app.get('/a/:id', { schema }, () => '');
  app.post('/a/:id', () => '');
  app.get('/open', { config: { isPublic: true } }, () => '');
  refuseOtherMethods(app, table);
  t.strictSame([...table.keys()], ['/a/:id', '/open']);
  t.strictSame([...(table.get('/a/:id')?.methods.keys() ?? [])].toSorted(), ['GET', 'HEAD', 'POST']);
  t.equal(table.get('/a/:id')?.methods.get('GET'), schema);
  t.equal(table.get('/a/:id')?.isPublic, false);
  t.equal(table.get('/open')?.isPublic, true);
  t.end();
});
