/** The store: exact amounts, bounded records, pruning during work, records that vanish, and a database failover. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t, { type Test } from 'tap';
import { Retention } from '../../../src/engine/retention.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts';
import type { Store } from '../../../src/store/store.ts';
import { startAnvil } from '../../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../../support/evm-scenario.ts';
import { InstanceLeases } from '../../support/instance-leases.ts';
import { hastyLeases, startPostgres } from '../../support/postgres.ts';
import { attemptOf, temporaryStore, transactionOf } from '../../support/store.ts';

const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '30'] });
t.teardown(() => anvil.stop());
let accounts = 0;

function open(t: Test, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, ...options });
}

t.test('figures of 256 and 128 bits, and high nonces, come back from the store digit by digit', async (t) => {
  const stage = await open(t);
  const most = 2n ** 256n - 2n ** 200n - 1n;
  const fee = (2n ** 128n - 1n).toString();
  const id = await stage.send({
    value: most.toString(),
    speed: undefined,
    max_fee_per_gas: fee,
    max_priority_fee_per_gas: fee,
  });
  const shown = await stage.services.transactions.get('r1', id);
  t.match(shown, { value: `0x${most.toString(16)}` });
  t.equal(String(shown['max_fee_per_gas']), fee);

  const high = 2n ** 53n - 3n;
  await anvil.rpc('anvil_setNonce', [stage.address, `0x${high.toString(16)}`]);
  await stage.start();
  await stage.until('it waits for money', async () => (await stage.get(id)).statusReason !== null);
  t.equal((await stage.get(id)).status, 'pending');
  const paid = await stage.send();
  await stage.untilStatus(paid, 'confirmed', { mining: true });
  t.equal((await stage.get(paid)).sequence, high);
  t.equal(stage.front.offers.length, 1);
});

t.test('what is looked at and offered again and again keeps the records that it had', async (t) => {
  const stage = await open(t, { timing: { lookMs: 2, lookCapMs: 4, reofferMs: 10 } });
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  const before = await stage.attempts(id);
  const calls = () => stage.front.calls('eth_getTransactionCount');
  const [looks, offers] = [calls(), stage.front.offers.length];
  await stage.until('many looks', () => calls() > looks + 200 && stage.front.offers.length > offers + 20);
  t.strictSame([await stage.attempts(id), await stage.store.read.decisions(id, 100)], [before, []]);
  t.equal(await stage.transactionCount(), 1);
});

t.test('a record that vanishes ends its work at once, and holds up nobody', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const stage = await open(t, { store });
  await stage.start();
  const gone = await stage.send();
  await stage.untilStatus(gone, 'submitted');
  const database = new DatabaseSync(path);
  for (const [table, column] of [
    ['attempts', 'transaction_id'],
    ['transactions', 'id'],
  ]) {
    database.prepare(`delete from ${table} where ${column} = ?`).run(gone);
  }
  database.close();
  const next = await stage.send();
  await stage.untilStatus(next, 'confirmed', { mining: true });
  const offers = stage.front.offers.length;
  const calls = stage.front.calls('eth_getTransactionCount');
  await stage.untilStatus(await stage.send(), 'confirmed', { mining: true });
  t.equal(stage.front.offers.length, offers + 1, 'nothing of the other is offered any more');
  t.ok(stage.front.calls('eth_getTransactionCount') < calls + 100);
});

t.test('hundreds of old records go in batches, by one of two instances at a time, beside work', async (t) => {
  const stage = await open(t);
  await stage.store.write(async (writer) => {
    for (let index = 0; index < 600; index += 1) {
      const sequence = BigInt(index);
      const transaction = transactionOf({ relayerId: 'r1', lane: 'evm:1:0xaa', sequence });
      await writer.insertTransaction(transaction);
      await writer.insertAttempt(attemptOf(transaction, { lane: transaction.lane, sequence }));
      await writer.updateTransaction(transaction.id, 'pending', { status: 'failed', nextActionAt: null });
      await writer.settleSequence(transaction.lane, sequence);
    }
  });
  await stage.start();
  const leases = new InstanceLeases(1_000);
  const [batches, owners]: [number[], Set<number>] = [[], new Set()];
  let overlaps = 0;
  const instances = [1, 2].map((owner) => {
    const store = leases.storeFor(stage.store);
    const writeUnder: Store['writeUnder'] = async (lease, body) => {
      owners.add(owner);
      if (owners.size > 1) overlaps += 1;
      const done = await store.writeUnder(lease, body).finally(() => owners.delete(owner));
      batches.push(Number(done));
      return done;
    };
    const timing = { everyMs: 5, batch: 100, restMs: 1 };
    const log = createLog('silent');
    return new Retention({
      store: { ...store, writeUnder },
      keepMs: -60_000,
      keepAuditMs: 60_000,
      keepCallsMs: 60_000,
      elapsed: () => performance.now(),
      log,
      timing,
    });
  });
  for (const retention of instances) retention.start();
  const ids = await stage.sendMany(20);
  await stage.until('all old ones are gone', async () => (await stage.transactionCount()) <= 20);
  for (const retention of instances) await retention.close();
  // A transaction's other rows are deleted with it, so a batch has more rows than transactions.
  t.ok(Math.max(...batches) <= 1_000, `${Math.max(...batches)} in a batch`);
  t.equal(overlaps, 0);
  t.equal(await stage.store.read.knownSequence('evm:1:0xaa'), 600n, 'what was used stays known');
  await stage.until('the others are paid', async () => (await stage.paid()) === 140n, { mining: true });
  t.equal(ids.length, 20);
});

t.test('a burst through an endpoint that turns requests away a third of the time: none is lost', async (t) => {
  const stage = await open(t);
  await stage.start();
  const refused = new Map<object, boolean>();
  // All calls of one HTTP request share its headers.
  stage.front.rule(({ headers }) => {
    if (!refused.has(headers)) refused.set(headers, refused.size % 3 === 2);
    return refused.get(headers) === true ? { status: 429, body: 'slow down' } : undefined;
  });
  const ids = await stage.sendMany(60);
  await stage.until('all are paid', async () => (await stage.paid()) === 420n, { mining: true });
  stage.front.rule();
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  t.equal(await stage.nonces(), 60);
  const turnedAway = [...refused.values()].filter(Boolean).length;
  t.ok(turnedAway > 0, `${turnedAway} of ${refused.size} requests were turned away`);
});

t.test('a database that becomes read-only, and one that dies and comes back, cost time and nothing else', async (t) => {
  const postgres = await startPostgres({ durable: true });
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const store = await openPostgresStore({ url, log: createLog('silent'), ...hastyLeases });
  t.teardown(() => store.close());
  const stage = await open(t, { store });
  await stage.start();
  const first = await stage.sendMany(5);
  await stage.untilStatus(first, 'submitted');

  const name = new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
  const readOnly = async (on: boolean) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter database ${name} set default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await client.end();
    await postgres.cutConnections(url);
  };
  await readOnly(true);
  const refused = await stage.send().catch((error: { code?: string }) => error.code);
  t.equal(refused, 'UNAVAILABLE');
  await readOnly(false);
  let second = '';
  await stage.until('it is taken again', async () => {
    second = await stage.send().catch(() => '');
    return second !== '';
  });
  await postgres.crash();
  await stage.mine(3);
  await postgres.restart();
  await stage.until('all are told', async () => {
    const states = await Promise.all([...first, second].map((id) => stage.get(id).catch(() => undefined)));
    await stage.mine();
    return states.every((transaction) => transaction?.status === 'confirmed');
  });
  t.strictSame([await stage.paid(), await stage.nonces()], [42n, 6]);
});
