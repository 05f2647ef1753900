import { setTimeout as delay } from 'node:timers/promises';
import { Kysely } from 'kysely';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import type { Lease } from '../../../../../src/store/lease.ts';
import { openPostgresStore } from '../../../../../src/store/postgres/postgres.ts';
import { postgresDialect, typeParsers } from '../../../../../src/store/postgres/postgres-dialect.ts';
import {
  PostgresBuckets,
  PostgresInstances,
  PostgresLeases,
} from '../../../../../src/store/postgres/postgres-instances.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { PostgresPool } from '../../../../support/postgres-pool.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('each hears what the others that are there said last', async (t) => {
  const url = await postgres.createDatabase();
  await (await openPostgresStore({ url, log: createLog('silent') })).close();
  const db = new Kysely<Tables>({
    dialect: postgresDialect(new PostgresPool({ connectionString: url, types: typeParsers })),
  });
  t.teardown(() => db.destroy());
  const [one, two] = [new PostgresInstances(db, 'one', 60_000), new PostgresInstances(db, 'two', 60_000)];
  t.strictSame(await one.say(['r1', 'r2']), [], 'it does not hear itself');
  t.strictSame(await two.say([]), [new Set(['r1', 'r2'])]);
  t.strictSame(await one.say(['r2']), [new Set()]);
  t.strictSame(await two.say(['r1']), [new Set(['r2'])]);
  await one.leave();
  await one.leave();
  t.strictSame(await two.say([]), []);

  await one.say([]);
  const hasty = new PostgresInstances(db, 'hasty', 50);
  while ((await hasty.say([])).length > 0) await delay(20);
  await db.updateTable('instances').set({ said_at: 1 }).where('id', '!=', 'hasty').execute();
  await hasty.say([]);
  const left = await db.selectFrom('instances').select('id').execute();
  t.strictSame(left, [{ id: 'hasty' }], 'who is long gone is taken away');
});

t.test('each is to take a share of what nobody has, and only that of one who is gone moves', async (t) => {
  const url = await postgres.createDatabase();
  const store = await openPostgresStore({ url, log: createLog('silent') });
  t.equal(store.instances?.isOurs('lane'), true);
  await store.close();
  const db = new Kysely<Tables>({
    dialect: postgresDialect(new PostgresPool({ connectionString: url, types: typeParsers })),
  });
  t.teardown(() => db.destroy());
  const all = ['one', 'two', 'three'].map((id) => new PostgresInstances(db, id, 60_000));
  const names = Array.from({ length: 300 }, (_, index) => `lane ${index}`);
  const takers = (instances: PostgresInstances[]) =>
    names.map((name) => instances.flatMap((instance, index) => (instance.isOurs(name) ? [index] : [])));
  t.strictSame(takers(all)[0], [0, 1, 2], 'who has heard of nobody takes all');
  for (const _ of [1, 2]) for (const instance of all) await instance.say([]);
  const before = takers(all);
  t.ok(before.every((takers) => takers.length === 1));
  for (const index of [0, 1, 2]) t.ok(before.filter(([taker]) => taker === index).length > 60);
  await all[2]?.leave();
  for (const instance of all.slice(0, 2)) await instance.say([]);
  const after = takers(all.slice(0, 2));
  t.ok(after.every((takers) => takers.length === 1));
  t.ok(before.every(([taker], index) => taker === 2 || after[index]?.[0] === taker));
});

function assertHeld(leases: PostgresLeases, transaction: Kysely<Tables>, lease: Lease): Promise<void> {
  return leases.heldOver({ run: (query) => transaction.executeQuery(query) })(lease);
}

t.test('postgres leases', async (t) => {
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

  t.test('many are taken together, in one statement for some hundreds', async (t) => {
    const { db, one, two } = await ownersFor(t, 60_000);
    const names = Array.from({ length: 1_200 }, (_, index) => `lane ${index}`);
    const theirs = await Promise.all(names.slice(0, 100).map((name) => two.acquire(name)));
    const answers = await Promise.all(names.map((name) => one.acquire(name)));
    t.ok(answers.slice(0, 100).every(({ kind }) => kind === 'elsewhere'));
    const taken = answers.flatMap((answer) => (answer.kind === 'taken' ? [answer.lease] : []));
    t.strictSame(
      taken,
      names.slice(100).map((name) => ({ name, token: 1 })),
    );
    t.strictSame(await one.renew(taken), taken);
    await Promise.all([...taken.map((lease) => one.release([lease])), one.release([{ name: 'lane 0', token: 1 }])]);
    const { held } = await db
      .selectFrom('leases')
      .select((on) => on.fn.countAll<number>().as('held'))
      .where('expires_at', '>', 0)
      .executeTakeFirstOrThrow();
    t.equal(held, 99, 'a token alone gives a lease back, as before');
    t.ok(theirs.every(({ kind }) => kind === 'taken'));
  });

  t.test('who wants one that is expired but inside a write is not made to wait', async (t) => {
    const { db, one, two } = await ownersFor(t, 1_500);
    const taken = await one.acquire('lane');
    if (taken.kind !== 'taken') throw new Error('not free');
    await db.transaction().execute(async (transaction) => {
      await assertHeld(one, transaction, taken.lease);
      await delay(1_600);
      t.strictSame(await two.acquire('lane'), { kind: 'elsewhere', forMs: 200 });
    });
    t.match(await two.acquire('lane'), { kind: 'taken', lease: { token: 2 } });
    await db.transaction().execute(async (transaction) => {
      await t.rejects(assertHeld(one, transaction, taken.lease), { name: 'LeaseLost' });
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
      db.transaction().execute((transaction) => assertHeld(one, transaction, first.lease)),
      { name: 'LeaseLost' },
    );
    await db.transaction().execute((transaction) => assertHeld(two, transaction, first.lease));
  });
});

t.test('postgres buckets', async (t) => {
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
});
