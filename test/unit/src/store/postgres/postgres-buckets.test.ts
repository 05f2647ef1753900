import { Kysely } from 'kysely';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { openPostgresStore } from '../../../../../src/store/postgres/postgres.ts';
import { PostgresBuckets } from '../../../../../src/store/postgres/postgres-buckets.ts';
import { postgresDialect, typeParsers } from '../../../../../src/store/postgres/postgres-dialect.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { PostgresPool } from '../../../../support/postgres-pool.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());
const url = await postgres.createDatabase();
await (await openPostgresStore({ url, log: createLog('silent') })).close();

/** The buckets of three instances on one database. */
function instancesFor(t: Test): [PostgresBuckets, PostgresBuckets, PostgresBuckets] {
  const open = () => {
    const pool = new PostgresPool({ connectionString: url, types: typeParsers, max: 4 });
    const db = new Kysely<Tables>({ dialect: postgresDialect(pool) });
    t.teardown(() => db.destroy());
    return new PostgresBuckets(db);
  };
  return [open(), open(), open()];
}

/** A token takes an hour to come back, so none comes back during the test. */
const HOUR = 3_600_000_000;

t.test('instances share a bucket, whoever asks first', async (t) => {
  const instances = instancesFor(t);
  const [one, two] = instances;
  const size = { tokenUs: HOUR, fullUs: 10 * HOUR };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (instances[n % instances.length] as PostgresBuckets).take('key a', size)),
  );
  t.equal(answers.filter(({ allowed }) => allowed).length, 10);
  const refused = await one.take('key a', size);
  t.equal(refused.allowed, false);
  t.ok(refused.missingUs > 9.9 * HOUR && refused.missingUs <= 10 * HOUR);
  t.ok((await two.take('key b', size)).allowed, 'subjects do not share');
});

t.test('several tokens are taken together or not at all, whoever asks', async (t) => {
  const instances = instancesFor(t);
  const size = { tokenUs: HOUR, fullUs: 10 * HOUR };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => (instances[n % instances.length] as PostgresBuckets).take('key d', size, 4)),
  );
  t.equal(answers.filter(({ allowed }) => allowed).length, 2, 'two times four of ten');
  const [one] = instances;
  t.notOk((await one.take('key d', size, 3)).allowed);
  t.ok((await one.take('key d', size, 2)).allowed, 'the refusals cost nothing');
  t.notOk((await one.take('key e', size, 11)).allowed, 'a full bucket has no more than it holds');
});

t.test('tokens come back', async (t) => {
  const [one, two] = instancesFor(t);
  const size = { tokenUs: 50_000, fullUs: 50_000 };
  t.ok((await one.take('key c', size)).allowed);
  let answer = await two.take('key c', size);
  for (let tries = 0; !answer.allowed && tries < 200; tries += 1) answer = await one.take('key c', size);
  t.ok(answer.allowed);
  t.ok(answer.missingUs <= 50_000);
});
