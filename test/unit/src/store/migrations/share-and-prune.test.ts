import t from 'tap';
import { shareAndPrune } from '../../../../../src/store/migrations/share-and-prune.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('leases and lanes get their tables', async (t) => {
  const { take } = await beforeStep(t, shareAndPrune);
  t.strictSame(await take(), ['lane_sequences', 'leases']);
});

t.test('transactions that were final before there was a time of their end get one, and can be pruned', async (t) => {
  const { database, takeAll } = await beforeStep(t, shareAndPrune);
  const insert = database.prepare(
    `insert into transactions (id, relayer_id, network_type, lane, status, created_at, confirmed_at, request, fields, is_canceled)
     values (?, 'r', 'evm', 'l', ?, 100, ?, '{}', '{}', 0)`,
  );
  insert.run('confirmed', 'confirmed', 200);
  insert.run('failed', 'failed', null);
  insert.run('open', 'mined', null);
  await takeAll();
  const rows = database.prepare('select id, ended_at from transactions order by id').all();
  t.same(rows, [
    { id: 'confirmed', ended_at: 200 },
    { id: 'failed', ended_at: 100 },
    { id: 'open', ended_at: null },
  ]);
});
