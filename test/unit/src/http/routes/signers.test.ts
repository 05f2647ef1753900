import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/signers';

t.test('create answers 201, the rest 200, in the envelope; an update is 400', async (t) => {
  const { call, post } = await startHttp(t);
  const created = await post(PATH, '{"id":"k1","type":"plain"}');
  t.match([created.status, created.json], [201, { success: true, data: { id: 'k1' }, error: null }]);
  t.match((await call(PATH)).json, { data: [{ id: 'k1' }], pagination: { total_items: 1 } });
  t.match((await call(`${PATH}/k1`)).json, { data: { id: 'k1' } });
  const headers = { 'content-type': 'application/json' };
  const changed = await call(`${PATH}/k1`, { method: 'PATCH', body: '{}', headers });
  t.match([changed.status, changed.json], [400, { error: /^Signer updates are not allowed/ }]);
  const deleted = await call(`${PATH}/k1`, { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'Signer deleted successfully', error: null });
  const gone = await call(`${PATH}/k1`);
  t.match([gone.status, gone.json], [404, { error: 'Signer with ID k1 not found' }]);
});
