import t from 'tap';
import { indexFillers } from '../../../../../src/store/migrations/index-fillers.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('fillers have an index of their own', async (t) => {
  const { database, take } = await beforeStep(t, indexFillers);
  t.strictSame(await take(), []);
  const indexes = database.prepare("select name from sqlite_schema where type = 'index' and tbl_name = 'attempts'");
  t.ok(indexes.all().some(({ name }) => name === 'attempts_that_fill'));
});
