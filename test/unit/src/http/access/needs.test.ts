import { fastify } from 'fastify';
import t from 'tap';
import { Access } from '../../../../../src/domain/settings/access.ts';
import { declareNeeds, needOf } from '../../../../../src/http/access/needs.ts';
import { operations } from '../../../../../src/http/openapi/operations.ts';
import { describedBodies } from '../../../../support/described.ts';

const OPEN = ['GET /api/v1/health', 'GET /api/v1/ready', 'GET /api-docs/openapi.json'];
const OF_ANY_KEY = 'GET /api/v1/api-keys/current';

t.test('each operation that takes a key needs something that a key may be permitted', (t) => {
  for (const route of Object.keys(operations(describedBodies())).filter(
    (one) => ![...OPEN, OF_ANY_KEY].includes(one),
  )) {
    const [method = '', url = ''] = route.split(' ');
    const need = needOf(method, url);
    t.ok(need, route);
    if (need != null) t.equal(new Access([`${need.resource}:${need.deed}`]).may(need), true, route);
  }
  t.equal(needOf('GET', '/api/v1/nothing'), undefined);
  t.equal(needOf('GET', '/api/v1/api-keys/current'), null, 'known, and for any key');
  t.strictSame(needOf('HEAD', '/api/v1/relayers'), needOf('GET', '/api/v1/relayers'));
  t.strictSame(needOf('POST', '/plugins/:id/call'), { resource: 'plugins', deed: 'call' });
  t.end();
});

t.test('a route is noted with its need, and one of which nothing is known is an error', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  declareNeeds(app);
  app.get('/api/v1/signers', ({ routeOptions }) => routeOptions.config.need);
  app.get('/api/v1/api-keys/current', ({ routeOptions }) => ({ need: routeOptions.config.need }));
  app.get('/open', { config: { isPublic: true } }, ({ routeOptions }) => ({ need: routeOptions.config.need }));
  app.route({ method: 'PUT', url: '/api/v1/signers', config: { isRefusal: true }, handler: () => '' });
  t.throws(() => app.get('/api/v1/new', () => ''), { message: 'access/needs.ts says nothing of GET /api/v1/new' });
  t.strictSame((await app.inject('/api/v1/signers')).json(), { resource: 'signers', deed: 'read' });
  t.strictSame((await app.inject('/api/v1/api-keys/current')).json(), {}, 'any key will do');
  t.strictSame((await app.inject('/open')).json(), {});
});
