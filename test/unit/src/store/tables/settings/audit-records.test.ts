import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../../support/store.ts';
import { auditContract } from '../../../../../support/store-contract/audit-records.ts';

auditContract(t, storeFor);

t.test('a record of unknown shape is an error that names it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const change = { action: 'update', resource: 'relayer', resourceId: 'r1', before: null, after: null } as const;
  await store.write((writer) => writer.insertAuditRecord({ ...change, keyId: 'k', requestId: 'r' }));
  const vandal = new DatabaseSync(path);
  vandal.exec(`update audit_records set after = '[]'`);
  vandal.close();
  await t.rejects(store.read.auditRecords({ page: 1, perPage: 1 }, {}), { name: 'UnreadableRecord' });
});
