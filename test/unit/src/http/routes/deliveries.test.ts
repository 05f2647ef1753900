import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/notifications/n1/deliveries';

t.test('parts go on from a sealed cursor, and what is not there is told', async (t) => {
  const { call, post, services } = await startHttp(t);
  const asked: unknown[] = [];
  services.deliveries.list = async (...[id, part, filter]: unknown[]) => {
    asked.push([id, part, filter]);
    return { items: [{ id: 'e1' }], next: asked.length === 1 ? 17 : null };
  };
  const first = await call(`${PATH}?per_page=1&state=dead&transaction_id=t1`);
  t.match(first.json, { success: true, data: [{ id: 'e1' }], error: null });
  const { next_cursor: cursor, ...rest } = (first.json as { pagination: Record<string, unknown> }).pagination;
  t.strictSame(rest, { per_page: 1 });
  t.match((await call(`${PATH}?cursor=${cursor}`)).json, { pagination: { per_page: 10, next_cursor: null } });
  t.strictSame(asked, [
    ['n1', { before: null, limit: 1 }, { state: 'dead', transactionId: 't1' }],
    ['n1', { before: 17, limit: 10 }, { state: undefined, transactionId: undefined }],
  ]);
  for (const made of ['', 'x', '17', `${cursor}A`, `${cursor}&cursor=${cursor}`]) {
    t.match(await call(`${PATH}?cursor=${made}`), { status: 400, json: { error: /^cursor: / } }, made);
  }
  for (const query of ['state=lost', 'per_page=-1']) t.equal((await call(`${PATH}?${query}`)).status, 400, query);
  t.match(await call(`${PATH}/e9`), { status: 404, json: { code: 'DELIVERY_NOT_FOUND' } });
  t.match(await post(`${PATH}/e9/redeliver`, ''), { status: 404, json: { code: 'DELIVERY_NOT_FOUND' } });
  t.match(await post(`${PATH}/e9/redeliver`, '{"url":"x"}'), { status: 400 });
});
