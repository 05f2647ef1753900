import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import t from 'tap';
import type { TransactionStatus } from '../../../../../src/features/transactions/records/transaction-state.ts';
import { transactionList } from '../../../../../src/features/transactions/tables/transaction-list.ts';
import { transactionOfRow } from '../../../../../src/features/transactions/tables/transactions.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../../src/store/column-types.ts';
import { migrate } from '../../../../../src/store/migrations/migrate.ts';
import { migrations } from '../../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../src/store/sqlite/sqlite-dialect.ts';
import {
  countOf,
  ListPages,
  type ListPlace,
  type LongList,
  pageBounds,
} from '../../../../../src/store/tables/lists.ts';
import { RecordCache } from '../../../../../src/store/tables/stored-record.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { relayerOf, temporaryStore } from '../../../../support/store.ts';

t.test('list contents', async (t) => {
  /** A list in memory that records how many entries each query passed over. */
  class Entries implements LongList {
    readonly name = 'entries';
    readonly looks: number[] = [];
    readonly isLasting: boolean;
    #places: ListPlace[];

    constructor(count: number, isLasting = true) {
      this.isLasting = isLasting;
      this.#places = Array.from({ length: count }, (_, index) => ({ created_at: count - index, id: `id-${index}` }));
    }

    add(count: number): void {
      const highest = this.#places[0]?.created_at ?? 0;
      for (let one = 1; one <= count; one += 1) this.#places.unshift({ created_at: highest + one, id: `new-${one}` });
    }

    dropNewest(count: number): void {
      this.#places = this.#places.slice(count);
    }

    #after(place: ListPlace | undefined): ListPlace[] {
      return place === undefined ? this.#places : this.#places.filter((one) => one.created_at < place.created_at);
    }

    async place(after: ListPlace | undefined, count: number) {
      this.looks.push(count);
      return this.#after(after)[count - 1];
    }

    async countBefore(before: ListPlace, most: number) {
      this.looks.push(most);
      return Math.min(most, this.#places.filter((one) => one.created_at > before.created_at).length);
    }

    /** The id of the entry that a starting point leads to. */
    entryAt({ after, skip }: { after: ListPlace | undefined; skip: number }): string | undefined {
      return this.#after(after)[skip]?.id;
    }

    idAt(offset: number): string | undefined {
      return this.#places[offset]?.id;
    }
  }

  t.test('every entry is found where it is, and no look is longer than some strides', async (t) => {
    const property = fc.asyncProperty(
      fc.nat(60),
      fc.nat(70),
      fc.nat(40),
      fc.boolean(),
      async (count, offset, added, lasting) => {
        const entries = new Entries(count, lasting);
        const contents = new ListPages({ stride: 3 });
        await contents.open(entries, 0);
        entries.add(added);
        const opening = await contents.open(entries, offset);
        const isShort = entries.looks.every((look) => look <= 31);
        return isShort && entries.entryAt(opening) === entries.idAt(offset);
      },
    );
    await t.resolves(fc.assert(property, { numRuns: runsOf(500) }));
  });

  t.test(
    'beyond one stride the table of contents serves for a minute, and is made only as far as needed',
    async (t) => {
      let now = 0;
      const entries = new Entries(1_000);
      const contents = new ListPages({ stride: 10, elapsed: () => now });
      const looksFor = async (offset: number) => {
        const before = entries.looks.length;
        const opening = await contents.open(entries, offset);
        t.equal(entries.entryAt(opening), entries.idAt(offset), `entry ${offset}`);
        return entries.looks.length - before;
      };
      t.equal(await looksFor(10), 0, 'the first stride is counted');
      t.equal(await looksFor(25), 4, 'the newest, the new ones, and two strides');
      t.equal(await looksFor(29), 1, 'the new ones');
      t.equal(await looksFor(777), 76);
      t.equal(await looksFor(500), 1);
      await looksFor(5_000);
      t.equal(await looksFor(6_000), 1, 'behind the end');
      now = 60_001;
      t.equal(await looksFor(777), 79, 'made anew');
      entries.add(101);
      t.equal(await looksFor(777), 79, 'and so it is when much is new');
    },
  );

  t.test('a list that empties fast is counted before its table of contents is believed', async (t) => {
    const entries = new Entries(1_000, false);
    const contents = new ListPages({ stride: 10 });
    await contents.open(entries, 500);
    entries.dropNewest(50);
    t.equal(entries.entryAt(await contents.open(entries, 100)), entries.idAt(100));
  });

  t.test('those who ask at once wait for one, and a failure is nobody else’s', async (t) => {
    const entries = new Entries(100);
    const contents = new ListPages({ stride: 10 });
    await Promise.all([contents.open(entries, 90), contents.open(entries, 90)]);
    t.equal(entries.looks.filter((look) => look === 10).length, 9, 'made once');

    const failing = new Entries(100);
    const place = failing.place.bind(failing);
    failing.place = async () => {
      throw new Error('the store is away');
    };
    const fresh = new ListPages({ stride: 10 });
    await t.rejects(fresh.open(failing, 50), { message: 'the store is away' });
    failing.place = place;
    t.equal(failing.entryAt(await fresh.open(failing, 50)), failing.idAt(50));
  });
});

t.strictSame(pageBounds({ page: 1, perPage: 10 }), { limit: 10, offset: 0 });
t.strictSame(pageBounds({ page: 0, perPage: 10 }), { limit: 10, offset: 0 }, 'page 0 means the first');
t.strictSame(pageBounds({ page: 3, perPage: 10 }), { limit: 10, offset: 20 });
t.strictSame(pageBounds({ page: 3, perPage: 0 }), { limit: 0, offset: 0 });
t.strictSame(pageBounds({ page: Number.MAX_SAFE_INTEGER, perPage: 500 }), {
  limit: 500,
  offset: Number.MAX_SAFE_INTEGER,
});

t.equal(countOf([{ total: 7 }]), 7);
t.throws(() => countOf([]), /answered nothing/);

/** The store contract tests which relayers a filter selects. This file tests how much is read for that. */
t.test('what a filter is asked of is read in short: only those of the page whole', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    for (const id of ['a', 'b', 'c']) await writer.putRelayer(relayerOf({ id, name: `Payer ${id}` }));
  });
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update relayers set policies = 'null' where id = 'c'`);
  const page = async (number: number) => await store.read.relayers({ page: number, perPage: 1 }, { search: 'payer' });
  t.match(await page(2), { items: [{ id: 'b' }], total: 3 });
  t.match(await page(4), { items: [], total: 3 });
  await t.rejects(page(1), { name: 'UnreadableRecord' });
});

/** A page of a long list is correct, and no query for it passes over more than one stride of the list. */
t.test('transaction list', async (t) => {
  const COUNT = 25_000;

  /**
   * The last ten are open, one of them canceled. Of the others every fiftieth failed. Three were created at each moment.
   */
  const FILL = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${COUNT - 1})
  insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, request, fields,
    anchor_kind, on_death, noop_end, next_action_at)
  select printf('t%05d', i), 'r1', i, 'evm', 'l',
    case when i >= ${COUNT - 10} then 'submitted' when i % 50 = 0 then 'failed' else 'confirmed' end,
    1700000000000 + i / 3, '{}', '{}', 'sequence', 'end',
    case when i = ${COUNT - 1} then 'canceled' end, case when i >= ${COUNT - 10} then 5 end from n`;

  t.test('pages from everywhere in the list', async (t) => {
    const database = new DatabaseSync(':memory:');
    t.teardown(() => database.close());
    const plans = new Set<string>();
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    await migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, migrations);
    database.exec(FILL);
    const explained = new Kysely<Tables>({
      dialect: sqliteDialect(database),
      log: ({ query }) => {
        const steps = database.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as string[]));
        for (const { detail } of steps) plans.add(String(detail));
      },
    });
    const run = <Row>(query: CompiledQuery<Row>) => explained.executeQuery(query);
    const connection = { db: explained, run, now: () => sql<number>`5`, settledWrites: () => sql<number>`1` };
    const list = transactionList(connection, new RecordCache(transactionOfRow));

    const idsOf = (where: string) =>
      database
        .prepare(`select id from transactions where ${where} order by created_at desc, id desc`)
        .all()
        .map(({ id }) => String(id));
    for (const [status, where] of [
      [undefined, `relayer_id = 'r1'`],
      ['confirmed', `status = 'confirmed'`],
      ['failed', `status = 'failed'`],
      ['submitted', `status = 'submitted' and noop_end is null`],
      ['pending', 'false'],
    ] as [TransactionStatus | undefined, string][]) {
      const all = idsOf(where);
      for (const page of [1, 2, 199, 200, 201, 202, 400, 401, 490, 500, 501, 100_000]) {
        const perPage = 50;
        const { items, total } = await list('r1', { page, perPage }, status);
        const expected = all.slice((page - 1) * perPage, page * perPage);
        t.strictSame([items.map(({ id }) => id), total], [expected, all.length], `page ${page} of ${status ?? 'all'}`);
      }
    }
    for (const plan of plans) {
      t.match(
        plan,
        /^(SEARCH transaction(s|_counts) USING|CO-ROUTINE|SCALAR SUBQUERY|SCAN \(?some|SCAN \(subquery)/,
        plan,
      );
      t.notMatch(plan, /TEMP B-TREE/, plan);
    }
  });
});
