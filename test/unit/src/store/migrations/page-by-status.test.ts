import t from 'tap';
import { pageByStatus } from '../../../../../src/store/migrations/page-by-status.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('a page of a status is found without sorting the others', async (t) => {
  const { database, take } = await beforeStep(t, pageByStatus);
  const plan = () =>
    database
      .prepare(
        `explain query plan select * from transactions where relayer_id = 'r' and status = 'confirmed'
         order by created_at desc, id desc limit 10`,
      )
      .all()
      .map(({ detail }) => String(detail));
  t.match(
    plan().join('\n'),
    /TEMP B-TREE|transactions_by_relayer \(relayer_id=\?\)/,
    'it sorted, or read all statuses',
  );
  t.same(await take(), []);
  t.strictSame(plan(), [
    'SEARCH transactions USING INDEX transactions_by_relayer_and_status (relayer_id=? AND status=?)',
  ]);
});
