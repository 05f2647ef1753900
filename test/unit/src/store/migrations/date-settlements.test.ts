import t from 'tap';
import { dateSettlements } from '../../../../../src/store/migrations/date-settlements.ts';
import { sequenceText } from '../../../../../src/store/sequence-text.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('what was pruned before there was a time of it counts as settled long ago', async (t) => {
  const { database, read, takeAll } = await beforeStep(t, dateSettlements);
  database.prepare('insert into lane_sequences (lane, sequence) values (?, ?)').run('l', sequenceText(6n));
  await takeAll();
  t.same(database.prepare('select settled_at from lane_sequences').all(), [{ settled_at: null }]);
  t.same(await read.settled('l'), { sequence: 7n, at: 0 });
});
