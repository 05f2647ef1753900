import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('changes are listed in pages, all or of one thing', async (t) => {
  const { call, services } = await startHttp(t);
  t.match((await call('/api/v1/audit')).json, { success: true, data: [{ id: 1 }], pagination: { total_items: 1 } });
  await call('/api/v1/audit?page=2&per_page=5&resource=relayer&resource_id=r1');
  t.strictSame(services.audit.asked, [
    { page: { page: 1, perPage: 10 }, filter: { resource: undefined, resourceId: undefined } },
    { page: { page: 2, perPage: 5 }, filter: { resource: 'relayer', resourceId: 'r1' } },
  ]);
  const unknown = await call('/api/v1/audit?resource=cat');
  t.match([unknown.status, unknown.json], [400, { error: /^resource: / }]);
});
