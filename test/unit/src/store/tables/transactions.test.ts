import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { relayerOf, storeFor, temporaryStore, transactionOf } from '../../../../support/store.ts';
import { transactionsContract } from '../../../../support/store-contract/transactions.ts';

transactionsContract(t, storeFor);

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
      store.read.transaction('relayer-1', bad.id),
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
