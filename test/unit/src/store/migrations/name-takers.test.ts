import t from 'tap';
import { nameTakers } from '../../../../../src/store/migrations/name-takers.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('versions that were accepted before have no taker', async (t) => {
  const { database, takeAll } = await beforeStep(t, nameTakers);
  database.exec(
    `pragma foreign_keys = off;
     insert into attempts (transaction_id, ordinal, lane, sequence, raw, hash, created_at, accepted_at)
     values ('t', 1, 'l', '0', '0x', '0x1', 100, 200)`,
  );
  await takeAll();
  t.match(database.prepare('select accepted_at, accepted_by from attempts').all(), [
    { accepted_at: 200, accepted_by: null },
  ]);
});
