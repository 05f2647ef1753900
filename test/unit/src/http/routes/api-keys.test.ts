import t from 'tap';
import { FULL_ACCESS } from '../../../../../src/domain/settings/access.ts';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/api-keys';

t.test('create answers 201 with the key, the rest 200 without', async (t) => {
  const { call, post, services } = await startHttp(t);
  const created = await post(PATH, '{"id":"k1"}');
  t.match([created.status, created.json], [201, { success: true, data: { id: 'k1', key: 'a fresh key' } }]);
  t.strictSame(services.apiKeys.accesses, [FULL_ACCESS]);
  t.strictSame((await call(PATH)).json, {
    success: true,
    data: [{ id: 'k1' }],
    error: null,
    pagination: { current_page: 1, per_page: 10, total_items: 1 },
  });
  t.match((await call(`${PATH}/k1`)).json, { data: { id: 'k1' } });
  t.match((await call(`${PATH}/current`)).json, { success: true, data: { id: 'default' } }, 'that of the request');
  t.match((await call(`${PATH}/k1/permissions`)).json, { success: true, data: ['*'] });
  const deleted = await call(`${PATH}/k1`, { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'API key deleted successfully', error: null });
  const gone = await call(`${PATH}/k1/permissions`);
  t.match([gone.status, gone.json], [404, { error: 'Api key with id k1 not found' }]);
});
