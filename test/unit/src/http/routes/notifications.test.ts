import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/notifications';

t.test('create answers 201, the rest 200, in the envelope', async (t) => {
  const { call, post } = await startHttp(t);
  const created = await post(PATH, '{"id":"n1","url":"https://hooks.example/"}');
  t.equal(created.status, 201);
  t.match(created.json, { success: true, data: { id: 'n1' }, error: null });
  t.match((await call(PATH)).json, {
    data: [{ id: 'n1' }],
    pagination: { current_page: 1, per_page: 10, total_items: 1 },
  });
  t.match((await call(`${PATH}/n1`)).json, { success: true, data: { id: 'n1' } });
  const headers = { 'content-type': 'application/json' };
  const changed = await call(`${PATH}/n1`, { method: 'PATCH', body: '{"url":"https://two.example/"}', headers });
  t.equal(changed.status, 200);
  t.match(changed.json, { data: { id: 'n1', url: 'https://two.example/' } });
  const deleted = await call(`${PATH}/n1`, { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'Notification deleted successfully', error: null });
});

t.test("the seed's texts of failures", async (t) => {
  const { call, post } = await startHttp(t);
  await post(PATH, '{"id":"n1"}');
  const taken = await post(PATH, '{"id":"n1"}');
  t.equal(taken.status, 409);
  t.match(taken.json, { success: false, data: null, message: 'Notification with this ID already exists' });
  const headers = { 'content-type': 'application/json' };
  for (const init of [{}, { method: 'PATCH', body: '{}', headers }, { method: 'DELETE' }]) {
    const unknown = await call(`${PATH}/nobody`, init);
    t.equal(unknown.status, 404);
    t.match(unknown.json, { success: false, data: null, message: 'Notification not found' });
  }
  t.match((await call(`${PATH}?page=-1`)).json, { success: false, data: null, message: 'Bad Request' });
  t.match((await call(`${PATH}/n1`, { method: 'PATCH' })).json, { message: 'Bad Request', error: /body is missing/ });
  t.equal((await call(PATH, { method: 'PUT' })).status, 405);
});
