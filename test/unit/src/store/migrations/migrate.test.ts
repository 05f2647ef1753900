import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { relayerRecord } from '../../../../../src/domain/relayer/relayer.ts';
import { attemptRecord } from '../../../../../src/domain/transaction/attempt.ts';
import { transactionRecord } from '../../../../../src/domain/transaction/transaction.ts';
import { isFinal, transactionStatusSchema } from '../../../../../src/domain/transaction/transaction-state.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../../src/store/column-types.ts';
import { migrate } from '../../../../../src/store/migrations/migrate.ts';
import { type Migration, migrations } from '../../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../src/store/sqlite/sqlite-dialect.ts';
import { migratedDatabase, tablesOf } from '../../../../support/migration-stage.ts';

const step = (name: string, statement: string): Migration => ({
  name,
  async up(db) {
    await sql.raw(statement).execute(db);
  },
});
const first = step('first', 'create table things (id integer)');
const second = step('second', 'alter table things add column name text');

function emptyDatabase(t: Test) {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const columns = () => database.prepare("select name from pragma_table_info('things')").all().length;
  const version = () => database.prepare('select max(version) as version from migrations').get()?.['version'];
  const to = (...steps: Migration[]) =>
    migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, steps);
  return { to, columns, version };
}

t.test('each step is taken once, from empty and from an older version', async (t) => {
  const { to, columns, version } = emptyDatabase(t);
  await to();
  t.equal(version(), null);
  await to(first);
  await to(first);
  t.strictSame([columns(), version()], [1, 1]);
  await to(first, second);
  t.strictSame([columns(), version()], [2, 2]);
});

t.test('a step that fails leaves what was before it', async (t) => {
  const { to, columns, version } = emptyDatabase(t);
  const broken: Migration = {
    name: 'second',
    async up(db, types) {
      await second.up(db, types);
      throw new Error('half-way');
    },
  };
  await t.rejects(to(first, broken), /half-way/);
  t.strictSame([columns(), version()], [1, 1]);
  await to(first, second);
  t.strictSame([columns(), version()], [2, 2]);
});

t.test('a newer or foreign database is not touched', async (t) => {
  const { to, version } = emptyDatabase(t);
  await to(first, second);
  await t.rejects(to(first), {
    message: /newer version \(schema 2, "second"\) than this Isolayer, which knows schema 1/,
  });
  await t.rejects(to(step('other', 'select 1'), second), { message: /was not made by this Isolayer/ });
  t.equal(version(), 2);
});

t.test('all steps can be taken, and each has its own name', async (t) => {
  const database = await migratedDatabase(t);
  const taken = database.prepare('select name from migrations order by version').all();
  t.strictSame(
    taken.map(({ name }) => name),
    migrations.map(({ name }) => name),
  );
  t.equal(new Set(taken.map(({ name }) => name)).size, migrations.length);
});

t.test('columns of SQLite hold their type only, and the rising one rises', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  await new Kysely({ dialect: sqliteDialect(database) }).schema
    .createTable('things')
    .addColumn('place', sqliteColumns.rising, (column) => column.primaryKey())
    .addColumn('name', sqliteColumns.text)
    .addColumn('size', sqliteColumns.integer)
    .modifyEnd(sqliteColumns.table)
    .execute();
  const insert = database.prepare('insert into things (name, size) values (?, ?)');
  insert.run('a', 2 ** 40);
  insert.run('B', 1);
  t.throws(() => insert.run('c', 'large'), /cannot store TEXT value in INTEGER column/);
  t.throws(() => insert.run('c', 1.5), /cannot store REAL value in INTEGER column/);
  t.strictSame(
    database
      .prepare('select place, name from things order by name')
      .all()
      .map((row) => ({ ...row })),
    [
      { place: 2, name: 'B' },
      { place: 1, name: 'a' },
    ],
  );
});

t.test('baseline', async (t) => {
  const RECORDS = [relayerRecord, transactionRecord, attemptRecord];

  const SCHEMA = join(import.meta.dirname, '..', '..', '..', '..', '..', 'src', 'store', 'schema.ts');

  /** The columns of each table as records and `schema.ts` declare them, each marked with `null` if it is nullable. */
  function declaredTables(): Map<string, string[]> {
    const source = ts.createSourceFile(SCHEMA, readFileSync(SCHEMA, 'utf8'), ts.ScriptTarget.Latest, true);
    const members = new Map(
      source.statements
        .filter(ts.isInterfaceDeclaration)
        .map((declared) => [
          declared.name.text,
          declared.members
            .filter(ts.isPropertySignature)
            .map(({ name, type }) => [name.getText(), type?.getText() ?? '']),
        ]),
    );
    return new Map(
      (members.get('Tables') ?? []).map(([table = '', type = '']) => [
        table,
        [
          ...(members.get(type) ?? []).map(([column = '', kind = '']) => columnOf(column, kind.endsWith(' | null'))),
          ...RECORDS.filter((record) => record.table === table).flatMap(({ columns }) =>
            columns.map(({ name, isNullable }) => columnOf(name, isNullable)),
          ),
        ].sort(),
      ]),
    );
  }

  function columnOf(name: string, isNullable: boolean): string {
    return isNullable ? `${name} | null` : name;
  }

  t.test('the tables have the columns that the queries know', async (t) => {
    const database = await migratedDatabase(t);
    const declared = declaredTables();
    t.strictSame(tablesOf(database), [...declared.keys()].sort());
    for (const table of declared.keys()) {
      const columns = database.prepare('select name, "notnull", pk from pragma_table_info(?)').all(table);
      t.strictSame(
        columns.map(({ name, notnull, pk }) => columnOf(String(name), notnull === 0 && pk === 0)).sort(),
        declared.get(table),
        table,
      );
    }
  });

  t.test('what a table takes once it takes once', async (t) => {
    const database = await migratedDatabase(t);
    const transaction = (id: string, more = {}) => ({
      id,
      relayer_id: 'r',
      network_type: 'evm',
      lane: 'l',
      status: 'pending',
      created_at: 1,
      request: '{}',
      revision: 1,
      fields: '{}',
      anchor_kind: 'text',
      on_death: 'end',
      next_action_at: 1,
      ...more,
    });
    const attempt = (ordinal: number, hash: string, lane = 'l') => ({
      transaction_id: 't',
      ordinal,
      lane,
      raw: '0x',
      hash,
      created_at: 1,
      purpose: 'send',
      request: '{}',
      fields: '{}',
    });
    const insert = (table: string, row: Record<string, string | number>) =>
      database
        .prepare(`insert into ${table} (${Object.keys(row).join()}) values (${Object.keys(row).fill('?').join()})`)
        .run(...Object.values(row));
    const budget = { plugin_id: 'p', relayer_id: 'r', value: '1', fee: '2' };
    for (const [table, ...rows] of [
      ['transactions', transaction('t')],
      [
        'transactions',
        transaction('of a client', { content_key: 'bytes' }),
        transaction('twin', { content_key: 'bytes' }),
      ],
      ['attempts', attempt(1, 'a'), attempt(1, 'b')],
      ['attempts', attempt(2, 'c'), attempt(3, 'c')],
      ['budgets', budget],
      ['spending', { ...budget, transaction_id: 't' }],
      ['chain_identities', { network_type: 'evm', network: 'n', identity: '1' }],
    ] as const) {
      const [first, second = first] = rows;
      insert(table, first);
      t.throws(() => insert(table, second), /UNIQUE constraint failed/, `${table} ${JSON.stringify(second)}`);
    }
    insert('attempts', attempt(4, 'c', 'another lane'));
    database.exec(`update transactions set status = 'expired', content_key = null where content_key is not null`);
    insert('transactions', transaction('once more', { content_key: 'bytes' }));
    t.throws(() => insert('attempts', { ...attempt(1, 'd'), transaction_id: 'nobody’s' }), /FOREIGN KEY/);
    for (const status of transactionStatusSchema.options) {
      const { next_action_at: _, ...unplanned } = transaction(status, { status });
      if (isFinal(status)) insert('transactions', unplanned);
      else t.throws(() => insert('transactions', unplanned), /CHECK/, `${status}, and nothing would be done about it`);
    }
  });

  t.test('what is asked for again and again is found along an index', async (t) => {
    const database = await migratedDatabase(t);
    for (const [query, index] of [
      ["from spending where plugin_id = 'p' and relayer_id = 'r' and settled_at < 5", 'spending_settled'],
      ["from spending where plugin_id = 'p' and relayer_id = 'r' and spent_value is not null", 'spending_unfolded'],
      ['from transactions where next_action_at is not null and next_action_at < 5', 'transactions_due'],
      ['from transactions where ended_at < 5 and pins = 0', 'transactions_ended'],
      ["from intents where lane = 'l' and settled_at is null", 'intents_waiting'],
      ["from audit_records where resource = 'relayer' and resource_id = 'r'", 'audit_records_of_resource'],
      ['from transaction_events where (written, position) > (0, 7)', 'transaction_events_in_order'],
      ["from outbox where notification_id = 'n' and subject = 's' and position < 9", 'outbox_of_subject'],
    ] as const) {
      const plan = database.prepare(`explain query plan select * ${query}`).all();
      t.match(plan, [{ detail: new RegExp(`^SEARCH .* INDEX ${index} `) }], query);
    }
  });
});
