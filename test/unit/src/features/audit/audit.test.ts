import t from 'tap';
import { createAuditService } from '../../../../../src/features/audit/audit.ts';
import { storeFor } from '../../../../support/store.ts';

t.test('records are shown in the words of the wire', async (t) => {
  const store = await storeFor(t, { now: () => 1_700_000_000_000, elapsed: () => 0 });
  const change = { action: 'update', resource: 'relayer', resourceId: 'r1' } as const;
  await store.write((writer) =>
    writer.insertAuditRecord({ ...change, before: { a: 1 }, after: { a: 2n }, keyId: 'k1', requestId: 'q1' }),
  );
  const audit = createAuditService(store.read);
  const { items, next } = await audit.list({ before: null, limit: 10 }, {});
  t.strictSame(items, [
    {
      id: 1,
      at: '2023-11-14T22:13:20.000+00:00',
      key_id: 'k1',
      request_id: 'q1',
      action: 'update',
      resource: 'relayer',
      resource_id: 'r1',
      before: { a: 1 },
      after: { a: 2 },
      secrets: [],
    },
  ]);
  t.equal(next, null);
  t.strictSame(await audit.list({ before: null, limit: 10 }, { resourceId: 'r2' }), { items: [], next: null });
});
