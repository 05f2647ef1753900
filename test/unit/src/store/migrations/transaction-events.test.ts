import t from 'tap';
import { transactionEvents } from '../../../../../src/store/migrations/transaction-events.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('events get a table, in which those that follow a place are found along an index', async (t) => {
  const { database, take } = await beforeStep(t, transactionEvents);
  t.strictSame(await take(), ['transaction_events']);
  const plan = database
    .prepare('explain query plan select * from transaction_events where (written, position) > (0, 7)')
    .all();
  t.match(plan, [{ detail: /^SEARCH .* INDEX transaction_events_in_order / }]);
});
