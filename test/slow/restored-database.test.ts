/**
 * Threat: a restored PostgreSQL backup holds an unsigned payment that was sent after the backup. If it is sent again,
 * it is paid twice. The next start must ask the operator what to do, once.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runTyped } from '../support/command.ts';
import { type Instances, instancesFor, RECEIVER, TRANSACTIONS, TRANSFER, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { startAndFail } from '../support/service.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** Policies with which the relayer pays nothing, because gas is above the cap. */
const DEAR = { policies: { gas_price_cap: 1 } };
const CHEAP = { policies: { gas_price_cap: 1_000_000_000_000 } };

/** A backup with a waiting payment. In the original database, the payment was made. */
async function paidAfterTheBackup(t: Test): Promise<{ instances: Instances; backup: string; paid(): Promise<bigint> }> {
  const instances = await instancesFor(t, postgres);
  const first = await instances.compose();
  await first.request('PATCH', '/api/v1/relayers/local-1', DEAR);
  const { body } = await first.request('POST', TRANSACTIONS, TRANSFER);
  const statusReason = async () =>
    (await first.request('GET', `${TRANSACTIONS}/${body.data.id}`)).body.data.status_reason as string | null;
  while (!/gas_price_cap/.test((await statusReason()) ?? '')) await delay(50);
  await first.stop();
  const backup = await postgres.copyDatabase(instances.env['DATABASE_URL'] ?? '');
  const second = await instances.compose();
  await second.request('PATCH', '/api/v1/relayers/local-1', CHEAP);
  await untilMined(second, 1);
  await second.stop();
  const paid = async () => BigInt(String(await instances.anvil.rpc('eth_getBalance', [RECEIVER, 'latest'])));
  t.equal(await paid(), 7n);
  return { instances, backup, paid };
}

t.test('an instance that knows better does not start on it until it is told what to do', async (t) => {
  const { instances, backup, paid } = await paidAfterTheBackup(t);
  const { env } = instances;
  await postgres.restoreDatabase(env['DATABASE_URL'] ?? '', backup);

  for (const folder of ['data-2', 'data-new']) {
    const { code, output } = await startAndFail({ ...env, DATA_DIR: join(instances.dir, folder) });
    t.not(code, 0);
    t.match(output, /a backup was put back/, folder);
    t.match(output, /holds 1 transactions/);
    t.match(output, /restore --fail-unsigned/);
    t.notMatch(output, /\n\s+at .*\.ts:\d+/);
  }

  const answering = { ...env, DATA_DIR: join(instances.dir, 'data-2') };
  t.match(await runTyped(instances.dir, ['restore'], answering), { code: 1, complained: /--fail-unsigned/ });
  t.match(await runTyped(instances.dir, ['restore', '--fail-unsigned'], answering), { code: 0 });
  // This instance has its own data folder.
  const third = await instances.compose();
  t.match((await third.request('GET', TRANSACTIONS)).body.data, [
    { status: 'failed', status_reason: /may have been sent after the backup/ },
  ]);
  await third.request('PATCH', '/api/v1/relayers/local-1', CHEAP);
  const other = await third.request('POST', TRANSACTIONS, TRANSFER);
  while ((await paid()) < 14n) await delay(50);
  t.equal((await third.request('GET', `${TRANSACTIONS}/${other.body.data.id}`)).body.data.nonce, 1);
  t.equal(await paid(), 14n, 'what was sent after the backup was paid once');
  const complained = await runTyped(instances.dir, ['restore', '--send-unsigned'], answering);
  t.match(complained, { code: 1, complained: /An instance uses this database/ });
  await third.stop();

  const moved = { DATABASE_URL: await postgres.copyDatabase(env['DATABASE_URL'] ?? '') };
  const fourth = await instances.compose(moved);
  t.equal(
    (await fourth.request('GET', TRANSACTIONS)).body.data.length,
    2,
    'a copy that holds nothing unsigned is used',
  );
  await fourth.stop();
});

t.test('what was sent since the backup is found on the chain and taken as sent', async (t) => {
  const { instances, backup, paid } = await paidAfterTheBackup(t);
  const { env } = instances;
  await postgres.restoreDatabase(env['DATABASE_URL'] ?? '', backup);
  const answering = { ...env, DATA_DIR: join(instances.dir, 'data-2') };
  t.match(await runTyped(instances.dir, ['restore', '--compare-unsigned'], answering), { code: 0 });
  const third = await instances.compose();
  await third.request('PATCH', '/api/v1/relayers/local-1', CHEAP);
  const [mined] = await untilMined(third, 1);
  t.equal(mined?.nonce, 0);
  const other = await third.request('POST', TRANSACTIONS, TRANSFER);
  while ((await paid()) < 14n) await delay(50);
  t.equal((await third.request('GET', `${TRANSACTIONS}/${other.body.data.id}`)).body.data.nonce, 1);
  t.equal(await paid(), 14n);
  await third.stop();
});
