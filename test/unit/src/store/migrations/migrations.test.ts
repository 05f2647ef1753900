import t from 'tap';
import { migrations } from '../../../../../src/store/migrations/migrations.ts';
import { migratedDatabase } from '../../../../support/migration-stage.ts';

t.test('all steps can be taken, and each has its own name', async (t) => {
  const database = await migratedDatabase(t);
  const taken = database.prepare('select name from migrations order by version').all();
  t.strictSame(
    taken.map(({ name }) => name),
    migrations.map(({ name }) => name),
  );
  t.equal(new Set(taken.map(({ name }) => name)).size, migrations.length);
});
