import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import type { TransactionChange } from '../../../../../../src/features/transactions/records/transaction.ts';
import {
  changedColumns,
  transactionOfRow,
  transactionRow,
} from '../../../../../../src/features/transactions/tables/transactions.ts';
import { relayerOf, temporaryStore, transactionOf } from '../../../../../support/store.ts';

t.test('a record of unknown shape is an error that names it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const [good, bad] = [transactionOf(), transactionOf()];
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf());
    await writer.insertTransaction(good);
    await writer.insertTransaction(bad);
  });
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  for (const damage of [
    `status = 'lost'`,
    `sequence = '7'`,
    `fields = '{"a":'`,
    `noop_end = 'lost'`,
    `anchor_kind = 'lost'`,
    `on_death = 'lost'`,
  ]) {
    vandal.exec(`update transactions set ${damage} where id = '${bad.id}'`);
    await t.rejects(
      async () => store.read.transaction('relayer-1', bad.id),
      { name: 'UnreadableRecord', message: new RegExp(bad.id) },
      damage,
    );
    t.same(await store.read.transaction('relayer-1', good.id), good);
    vandal.exec(
      `update transactions set status = 'pending', sequence = null, fields = '{}', noop_end = null,
        anchor_kind = 'sequence', on_death = 'end' where id = '${bad.id}'`,
    );
  }
});

t.test('what runs often finds its rows by an index', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.insertTransaction(transactionOf()));
  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  const planOf = (query: string) =>
    database
      .prepare(`explain query plan ${query}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  const table = 'from transactions';
  for (const [query, index] of [
    [
      `select min(lane) ${table} where next_action_at is not null and lane > 'x'`,
      'SEARCH transactions USING COVERING INDEX transactions_open_in_lane',
    ],
    [
      `select 1 ${table} where lane = 'x' and status in ('pending', 'sent') and next_action_at <= 5`,
      'transactions_open_in_lane (lane=? AND status=? AND next_action_at<?)',
    ],
    [`select min(next_action_at) ${table} where next_action_at is not null`, 'transactions_due'],
    [
      `select * ${table} where lane = 'x' and status = 'pending' and next_action_at is not null and (next_action_at <= 5 or next_action_at - 9 > 5) order by next_action_at, accepted limit 5`,
      'transactions_open_in_lane (lane=? AND status=? AND next_action_at>?)',
    ],
    [
      `select * ${table} where relayer_id = 'x' order by created_at desc, id desc limit 5`,
      'transactions_by_relayer (relayer_id=?)',
    ],
    [
      `select * ${table} where relayer_id = 'x' and status = 'sent' and (noop_end is null or noop_end <> 'canceled') order by created_at desc, id desc limit 5`,
      'transactions_by_relayer_and_status (relayer_id=? AND status=?)',
    ],
    [
      `select count(*) ${table} where relayer_id = 'x' and status in ('sent', 'pending')`,
      'transactions_by_relayer_and_status (relayer_id=? AND status=?)',
    ],
    [
      `select r.id, t.status, count(*) from relayers r join transactions t on t.relayer_id = r.id where t.status in ('sent', 'pending') group by r.id, r.network_type, t.status`,
      'SEARCH t USING COVERING INDEX transactions_by_relayer_and_status (relayer_id=? AND status=?)',
    ],
    [`select id ${table} where lane = 'x' and content_key = 'y'`, 'transactions_by_content (lane=? AND content_key=?)'],
    [`select * ${table} where parent_id = 'x'`, 'transactions_by_parent (parent_id=?)'],
    [
      `select max(confirmed_at) ${table} where relayer_id = 'x' and confirmed_at is not null`,
      'transactions_confirmed (relayer_id=?',
    ],
  ] as const) {
    const plan = planOf(query);
    t.ok(plan.includes(index), plan);
    t.notOk(plan.includes('ORDER BY'), `sorts nothing: ${plan}`);
  }
});

t.test('a transaction comes back from its row', async (t) => {
  const transaction = transactionOf({
    sequence: 2n ** 64n - 1n,
    noopEnd: 'canceled',
    anchorKind: 'text',
    onDeath: 'renew',
    contentKey: 'of a client',
    parentId: 'another',
    fields: { big: `${2n ** 256n}` },
  });
  t.strictSame(transactionOfRow({ ...transactionRow(transaction), accepted: 1 } as never), transaction);
});

t.test('a row of unknown shape is refused', async (t) => {
  const row = { ...transactionRow(transactionOf({ id: 'x' })), accepted: 1, status: 'lost' } as never;
  t.throws(() => transactionOfRow(row), { name: 'UnreadableRecord', message: /^Record x of table transactions/ });
});

t.test('a change names its columns only, and a final status clears the next action', async (t) => {
  const changed = (change: TransactionChange) => {
    const { revision, ...columns } = changedColumns(change);
    t.not(changedColumns(change).revision, revision, 'two writes are never taken for one');
    return columns;
  };
  t.strictSame(changed({}), {});
  t.strictSame(changed({ sequence: 7n, noopEnd: 'canceled', statusReason: null }), {
    sequence: '00000000000000000007',
    noop_end: 'canceled',
    status_reason: null,
  });
  t.strictSame(changed({ noopEnd: 'expired' }), { noop_end: 'expired' });
  t.strictSame(changed({ status: 'sent', nextActionAt: 5 }), { status: 'sent', next_action_at: 5 });
  t.strictSame(changed({ status: 'failed', nextActionAt: 5 }), { status: 'failed', next_action_at: null });
});

t.test('a balance of unknown shape is an error that names it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.putRelayerBalance({ relayerId: 'r1', balance: 1n, isLow: false }));
  const vandal = new DatabaseSync(path);
  vandal.exec(`update relayer_balances set balance = 'much'`);
  vandal.close();
  await t.rejects(store.read.relayerBalance('r1'), { name: 'UnreadableRecord', message: /r1/ });
});

t.test('what nobody can read as a sequence is not taken for one', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.settleSequence('one', 5n));
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update lanes set settled = '7'`);
  await t.rejects(store.read.settledSequence('one'));
  await t.rejects(store.read.knownSequence('one'));
});
