import t from 'tap';
import { audit } from '../../../../../src/store/migrations/audit.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('the records get a table, in which those of one thing are found along an index', async (t) => {
  const { database, take } = await beforeStep(t, audit);
  t.strictSame(await take(), ['audit_records']);
  const plan = database
    .prepare("explain query plan select * from audit_records where resource = 'relayer' and resource_id = 'r'")
    .all();
  t.match(plan, [{ detail: /^SEARCH .* INDEX audit_records_of_resource / }]);
});
