import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { RESOURCES } from '../../../../../src/features/resource-table.ts';
import {
  isFinal,
  transactionStatusSchema,
} from '../../../../../src/features/transactions/records/transaction-state.ts';
import { RECORD_KINDS } from '../../../../../src/store/schema.ts';
import { migratedDatabase, tablesOf } from '../../../../support/migration-stage.ts';

const SCHEMA = join(import.meta.dirname, '..', '..', '..', '..', '..', 'src', 'store', 'schema.ts');

/** The columns of each table as records and `schema.ts` declare them, each marked with `null` if it is nullable. */
function declaredTables(): Map<string, string[]> {
  const source = ts.createSourceFile(SCHEMA, readFileSync(SCHEMA, 'utf8'), ts.ScriptTarget.Latest, true);
  const tables = source.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === 'Tables');
  const byHand = new Map<string, string[]>();
  for (const table of tables?.members ?? []) {
    if (!ts.isPropertySignature(table) || table.type === undefined || !ts.isTypeLiteralNode(table.type)) continue;
    const columns = table.type.members.filter(ts.isPropertySignature);
    byHand.set(
      table.name.getText(),
      columns.map(({ name, type }) => columnOf(name.getText(), type?.getText().endsWith(' | null') === true)).sort(),
    );
  }
  const ofRecords = RECORD_KINDS.map(({ table, columns }): [string, string[]] => [
    table,
    columns.map(({ name, isNullable }) => columnOf(name, isNullable)).sort(),
  ]);
  return new Map([...byHand, ...ofRecords]);
}

function columnOf(name: string, isNullable: boolean): string {
  return isNullable ? `${name} | null` : name;
}

t.test('the tables have the columns that the queries know', async (t) => {
  const database = await migratedDatabase(t);
  const declared = declaredTables();
  for (const { record } of RESOURCES) {
    const own = record?.columns.map(({ name, isNullable }) => columnOf(name, isNullable)) ?? [];
    if (record !== undefined) declared.set(record.table, ['created_at', ...own].sort());
  }
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
    ['from calls where next_at < 5', 'calls_due'],
    ['from calls where ended_at < 5', 'calls_ended'],
    ["from calls where plugin_id = 'p' and created_at < 5", 'calls_of_plugin'],
    ["from outbox where notification_id = 'n' and subject = 's' and position < 9", 'outbox_of_subject'],
  ] as const) {
    const plan = database.prepare(`explain query plan select * ${query}`).all();
    t.match(plan, [{ detail: new RegExp(`^SEARCH .* INDEX ${index} `) }], query);
  }
});
