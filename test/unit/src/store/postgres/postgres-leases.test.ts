import { setTimeout as delay } from 'node:timers/promises';
import { Kysely } from 'kysely';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { openPostgresStore } from '../../../../../src/store/postgres/postgres.ts';
import { postgresDialect, typeParsers } from '../../../../../src/store/postgres/postgres-dialect.ts';
import { PostgresLeases } from '../../../../../src/store/postgres/postgres-leases.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { PostgresPool } from '../../../../support/postgres-pool.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** The leases of two owners on one empty database. */
async function ownersFor(
  t: Test,
  lastsMs: number,
): Promise<{ db: Kysely<Tables>; one: PostgresLeases; two: PostgresLeases }> {
  const url = await postgres.createDatabase();
  await (await openPostgresStore({ url, log: createLog('silent') })).close();
  const db = new Kysely<Tables>({
    dialect: postgresDialect(new PostgresPool({ connectionString: url, types: typeParsers })),
  });
  t.teardown(() => db.destroy());
  return { db, one: new PostgresLeases(db, 'one', lastsMs), two: new PostgresLeases(db, 'two', lastsMs) };
}

t.test('held elsewhere until it is given back; each taking has a higher token', async (t) => {
  const { one, two } = await ownersFor(t, 60_000);
  t.equal(one.lastsMs, 60_000);
  const lease = { name: 'lane', token: 1 };
  t.strictSame(await one.acquire('lane'), { kind: 'taken', lease });
  const answer = await two.acquire('lane');
  t.ok(answer.kind === 'elsewhere' && answer.forMs > 50_000 && answer.forMs <= 60_000);
  await one.release([lease]);
  t.strictSame(await two.acquire('lane'), { kind: 'taken', lease: { name: 'lane', token: 2 } });
  t.strictSame(await one.renew([lease]), []);
  await one.release([lease]);
  t.match(await one.acquire('lane'), { kind: 'elsewhere' }, 'the other keeps it');
});

t.test('one that is not renewed is over, one that is renewed is not', async (t) => {
  const { db, one, two } = await ownersFor(t, 600_000);
  const age = (ms: number) =>
    db
      .updateTable('leases')
      .set((on) => ({ expires_at: on('expires_at', '-', ms) }))
      .execute();
  const taken = await one.acquire('lane');
  if (taken.kind !== 'taken') throw new Error('not free');
  for (let renewals = 0; renewals < 3; renewals += 1) {
    await age(400_000);
    t.strictSame(await one.renew([taken.lease]), [taken.lease]);
    t.match(await two.acquire('lane'), { kind: 'elsewhere' });
  }
  await age(600_000);
  t.match(await two.acquire('lane'), { kind: 'taken' });
  t.strictSame(await one.renew([taken.lease]), []);
});

t.test('one that is held for longer than any lasts, by a clock since set back, is over in time', async (t) => {
  const { db, one, two } = await ownersFor(t, 400);
  const setBack = () => db.updateTable('leases').set((on) => ({ expires_at: on('expires_at', '+', 3_600_000) }));
  const taken = await one.acquire('lane');
  if (taken.kind !== 'taken') throw new Error('not free');
  await setBack().execute();
  t.strictSame(await two.acquire('lane'), { kind: 'elsewhere', forMs: 400 });
  t.strictSame(await one.renew([taken.lease]), [taken.lease], 'an owner that lives keeps it');
  await setBack().execute();
  const end = Date.now() + 10_000;
  while ((await two.acquire('lane')).kind === 'elsewhere' && Date.now() < end) await delay(20);
  t.strictSame(await one.renew([taken.lease]), []);
});

t.test('two that find it new at the same moment: one has it', async (t) => {
  const { one, two } = await ownersFor(t, 60_000);
  const answers = await Promise.all([one.acquire('lane'), two.acquire('lane'), one.acquire('b'), two.acquire('b')]);
  for (const [first, second] of [answers.slice(0, 2), answers.slice(2)]) {
    t.strictSame(new Set([first?.kind, second?.kind]), new Set(['elsewhere', 'taken']));
  }
});

t.test('who wants one that is expired but inside a write is not made to wait', async (t) => {
  const { db, one, two } = await ownersFor(t, 1_500);
  const taken = await one.acquire('lane');
  if (taken.kind !== 'taken') throw new Error('not free');
  await db.transaction().execute(async (transaction) => {
    await one.assertHeld(transaction, taken.lease);
    await delay(1_600);
    t.strictSame(await two.acquire('lane'), { kind: 'elsewhere', forMs: 200 });
  });
  t.match(await two.acquire('lane'), { kind: 'taken', lease: { token: 2 } });
  await db.transaction().execute(async (transaction) => {
    await t.rejects(one.assertHeld(transaction, taken.lease), { name: 'LeaseLost' });
  });
});

t.test('a token that the database gives again, having lost its last commits, is not the first owner’s', async (t) => {
  const { db, one, two } = await ownersFor(t, 60_000);
  const first = await one.acquire('lane');
  if (first.kind !== 'taken') throw new Error('not free');
  // The database comes back without the commit, and another instance takes the lease.
  await db.deleteFrom('leases').execute();
  t.strictSame(await two.acquire('lane'), first);
  await t.rejects(
    db.transaction().execute((transaction) => one.assertHeld(transaction, first.lease)),
    { name: 'LeaseLost' },
  );
  await db.transaction().execute((transaction) => two.assertHeld(transaction, first.lease));
});
