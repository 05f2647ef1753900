import t from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { withAuditLog } from '../../../../../src/services/audit-records.ts';
import { storeFor } from '../../../../support/store.ts';

const RECORD = {
  keyId: 'k',
  requestId: 'q',
  action: 'cancel',
  resource: 'transaction',
  resourceId: 't1',
  before: null,
  after: { relayer_id: 'r1', plugin_id: 'p' },
} as const;

t.test('what is kept is told once it is kept, and a send is told elsewhere', async (t) => {
  const lines: string[] = [];
  const store = withAuditLog(await storeFor(t), createLog('info', { write: (line) => void lines.push(line) }));
  await store.write(async (writer) => {
    await writer.insertAuditRecord(RECORD);
    await writer.insertAuditRecord({ ...RECORD, action: 'send' });
    t.strictSame(lines, []);
  });
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 'info',
    msg: 'audited',
    keyId: 'k',
    requestId: 'q',
    pluginId: 'p',
    action: 'cancel',
    resource: 'transaction',
    resourceId: 't1',
  });
  t.notMatch(lines[0], 'relayer_id');
  await t.rejects(
    store.write(async (writer) => {
      await writer.insertAuditRecord(RECORD);
      throw new Error('undone');
    }),
  );
  t.equal(lines.length, 1);
  t.equal((await store.read.auditRecords({ before: null, limit: 9 }, {})).items.length, 2);
});
