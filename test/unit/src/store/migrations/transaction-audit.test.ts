import t from 'tap';
import { transactionAudit } from '../../../../../src/store/migrations/transaction-audit.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('the latest change is found among any number of transactions', async (t) => {
  const { database, read, take } = await beforeStep(t, transactionAudit);
  t.strictSame(await take(), []);
  database.exec(`insert into audit_records (at, key_id, request_id, action, resource, resource_id, secrets)
    values (1, 'k', 'q', 'update', 'relayer', 'r', '[]'), (2, 'k', 'q', 'send', 'transaction', 't', '[]')`);
  t.equal(await read.latestChange(), 1);
  const query = `select position from audit_records where resource not in ('transaction', 'delivery')`;
  const plan = database.prepare(`explain query plan ${query} order by position desc limit 1`).all();
  t.match(plan, [{ detail: /audit_records_of_changes/ }]);
});
