import t from 'tap';
import { auditRecordSchema } from '../../../../../src/http/openapi/audit-operations.ts';
import { createAuditService } from '../../../../../src/services/settings/audit.ts';
import { storeFor } from '../../../../support/store.ts';

t.test('a record as it is answered has the described shape', async (t) => {
  const store = await storeFor(t);
  const change = { action: 'create', resource: 'notification', resourceId: 'n1', before: null } as const;
  await store.write((writer) =>
    writer.insertAuditRecord({ ...change, after: { id: 'n1' }, keyId: 'k', requestId: 'q', secrets: ['signing_key'] }),
  );
  const [record] = (await createAuditService(store.read).list({ before: null, limit: 1 }, {})).items;
  t.strictSame(auditRecordSchema.parse(record), record);
});
