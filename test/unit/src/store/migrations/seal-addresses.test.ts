import t from 'tap';
import { assertKnownSteps } from '../../../../../src/store/migrate.ts';
import { sealAddresses } from '../../../../../src/store/migrations/seal-addresses.ts';
import { migrations } from '../../../../../src/store/migrations.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('it adds nothing, and keeps an earlier version from a database with sealed addresses', async (t) => {
  const { database, take } = await beforeStep(t, sealAddresses);
  t.same(await take(), []);
  const taken = database.prepare('select version, name from migrations order by version').all();
  const steps = taken as unknown as { version: number; name: string }[];
  assertKnownSteps(steps, migrations);
  const earlier = migrations.slice(0, steps.length - 1);
  t.throws(() => assertKnownSteps(steps, earlier), { message: /is of a newer version/ });
});
