import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/networks';

t.test('create answers 201, the rest 200, in the envelope', async (t) => {
  const { call, post } = await startHttp(t);
  const created = await post(PATH, '{"id":"evm:mine"}');
  t.equal(created.status, 201);
  t.match(created.json, { success: true, data: { id: 'evm:mine' }, error: null });
  t.match((await call(PATH)).json, { data: [{ id: 'evm:mine' }], pagination: { total_items: 1 } });
  t.match((await call(`${PATH}/evm:mine`)).json, { data: { id: 'evm:mine' } });
  t.match((await call(`${PATH}/evm%3Amine`)).json, { data: { id: 'evm:mine' } }, 'as clients encode it');
  const headers = { 'content-type': 'application/json' };
  const changed = await call(`${PATH}/evm:mine`, { method: 'PATCH', body: '{"tags":["x"]}', headers });
  t.match([changed.status, changed.json], [200, { data: { id: 'evm:mine', tags: ['x'] } }]);
  const deleted = await call(`${PATH}/evm:mine`, { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'Network deleted successfully', error: null });
  const gone = await call(`${PATH}/evm:mine`);
  t.match([gone.status, gone.json], [404, { error: "Network with ID 'evm:mine' not found" }]);
  t.equal((await call(`${PATH}/evm:mine`, { method: 'DELETE', body: '{"x":1}', headers })).status, 400);
});
