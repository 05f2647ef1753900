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
  await t.rejects(store.read.auditRecords({ before: null, limit: 1 }, {}), { name: 'UnreadableRecord' });
});

t.test('what is most of the table is never sorted, and what is little in it has an index', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const about = { action: 'send', resource: 'transaction', resourceId: 't' } as const;
  await store.write((writer) =>
    writer.insertAuditRecord({ ...about, before: null, after: null, keyId: 'k', requestId: 'q' }),
  );
  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  const planOf = (where: string) =>
    database
      .prepare(`explain query plan select * from audit_records where ${where} order by position desc limit 9`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  const change = "resource not in ('transaction', 'delivery', 'signature')";
  t.equal(
    planOf("position < 9 and resource || '' = 'transaction'"),
    'SEARCH audit_records USING INTEGER PRIMARY KEY (rowid<?)',
  );
  t.match(planOf(change), /USING.* INDEX audit_records_of_changes$/);
  t.match(
    planOf(`${change} and position < 9 and resource || '' = 'relayer'`),
    /audit_records_of_changes \(position<\?\)$/,
  );
  t.match(
    planOf("resource = 'transaction' and resource_id = 't' and position < 9"),
    /audit_records_of_resource \([^)]*\)$/,
  );
});
