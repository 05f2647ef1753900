import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('records are listed part by part, all or those of one thing or key', async (t) => {
  const { call, services } = await startHttp(t);
  const first = await call('/api/v1/audit');
  t.match(first.json, { success: true, data: [{ id: 1 }], pagination: { per_page: 10, next_cursor: null } });
  await call('/api/v1/audit?cursor=7&per_page=5&resource=relayer&resource_id=r1&key_id=k1');
  t.strictSame(services.audit.asked, [
    { part: { before: null, limit: 10 }, filter: { resource: undefined, resourceId: undefined, keyId: undefined } },
    { part: { before: 7, limit: 5 }, filter: { resource: 'relayer', resourceId: 'r1', keyId: 'k1' } },
  ]);
  const unknown = await call('/api/v1/audit?resource=cat');
  t.match([unknown.status, unknown.json], [400, { error: /^resource: / }]);
});
