/**
 * The promise: one of several instances checks a relayer, another one takes over when it dies, and each event is
 * reported once. What could break it: all instances start together, or one crashes during an outage.
 */

import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { BalanceWatch } from '../../src/engine/relayers/balance-watch.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { startAnvil } from '../support/anvil.ts';
import { answersOf, healthStage } from '../support/health-stage.ts';
import { instancesFor } from '../support/instances.ts';
import { hastyLeases, startPostgres } from '../support/postgres.ts';
import { type DoubleHandler, type RpcDouble, startRpcDouble } from '../support/rpc-double.ts';
import type { RunningService } from '../support/service.ts';
import { relayerOf } from '../support/store.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const SILENT: DoubleHandler = () => 'hang-up';
const RELAYER = '/api/v1/relayers/local-1';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

async function double(t: Test, handler: DoubleHandler): Promise<RpcDouble> {
  const started = await startRpcDouble(handler);
  t.teardown(() => started.stop());
  return started;
}

t.test('instances that start together tell once what they find, also when one of them dies (item 75)', async (t) => {
  const instances = await instancesFor(t, postgres);
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const endpoint = await double(t, answersOf(instances.anvil));
  const env = { WEBHOOK_BLOCK_PRIVATE_IPS: 'false', RPC_ALLOWED_HOSTS: '127.0.0.1' };
  const first = await instances.compose(env);
  const created = await first.request('POST', '/api/v1/notifications', {
    id: 'hook',
    type: 'webhook',
    url: `${receiver.url}/hook`,
  });
  t.equal(created.status, 201);
  const changed = await first.request('PATCH', RELAYER, {
    notification_id: 'hook',
    custom_rpc_urls: [endpoint.url].map((url) => ({ url, weight: 100 })),
  });
  t.match(changed, { status: 200, body: { data: { system_disabled: false } } });
  await first.stop();

  /** Each event once, however often it was delivered. */
  const told = () => {
    const events = new Map(receiver.deliveries.map(({ json }) => [json.id, json.payload.payload_type]));
    return [...events.values()];
  };
  endpoint.answer(SILENT);
  const services = await Promise.all([1, 2].map(() => instances.start(env)));
  await receiver.until('it is told', () => told().length > 0, 30_000);
  t.strictSame(told(), ['relayer_disabled']);
  const [holder, ...rest] = services.toSorted((a, b) => looksOf(b) - looksOf(a));
  if (holder === undefined) throw new Error('nobody is there');
  for (const service of rest) t.match((await service.request('GET', RELAYER)).body.data, { system_disabled: true });

  await holder.kill();
  endpoint.answer(answersOf(instances.anvil));
  await receiver.until('it is told', () => told().length > 1, 60_000);
  t.strictSame(told(), ['relayer_disabled', 'relayer_enabled']);
  for (const service of rest) {
    t.match((await service.request('GET', RELAYER)).body.data, { system_disabled: false });
    t.notMatch(service.output(), /relayer check failed|relayer round failed/);
  }
  await stopAll(rest);
  t.strictSame(told(), ['relayer_disabled', 'relayer_enabled'], 'and nothing more is told');
});

/** How often the instance took over the relayer's checks. */
function looksOf(service: RunningService): number {
  return service.output().split('"lease":"relayer:local-1"').length;
}

async function stopAll(services: readonly RunningService[]): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
}

t.test('when the one of two that makes the rounds dies the other does, and sees what goes wrong', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const address = anvil.accounts[0]?.address ?? '';
  const url = await postgres.createDatabase();
  const open = async (): Promise<Store> => {
    const store = await openPostgresStore({ url, log: createLog('silent'), ...hastyLeases });
    t.teardown(() => store.close());
    return store;
  };
  const [one, two] = [await open(), await open()];
  let isDead = false;
  /** The first instance's store. After its death, it neither renews nor releases leases. */
  const mortal: Store = {
    ...one,
    leases: {
      lastsMs: one.leases.lastsMs,
      acquire: (name) => one.leases.acquire(name),
      renew: async (held) => (isDead ? [] : one.leases.renew(held)),
      release: async (held) => (isDead ? undefined : one.leases.release(held)),
    },
  };
  const endpoints = [await double(t, answersOf(anvil)), await double(t, answersOf(anvil))] as const;
  const asked = (index: 0 | 1) => endpoints[index].calls.filter(({ method }) => method === 'eth_getBalance').length;
  const first = await healthStage(t, { urls: [endpoints[0].url], address, store: mortal });
  await first.health.start();
  await first.until('it makes rounds', () => asked(0) > 5);
  const second = await healthStage(t, { urls: [endpoints[1].url], address, store: two });
  await second.health.start();
  await second.until('its check at the start is over', () => second.health.watched.length === 0);
  const before = asked(1);

  isDead = true;
  await first.health.close();
  await second.until('the second goes on', () => asked(1) > before + 5);
  await anvil.rpc('anvil_setBalance', [address, '0x0']);
  await second.until('it is disabled', async () => (await second.reason()) !== null);
  await anvil.rpc('anvil_setBalance', [address, '0xffffffff']);
  await second.until('it is enabled', async () => (await second.reason()) === null);
  t.strictSame(
    (await second.told()).map(({ payload_type: type }) => type),
    ['relayer_disabled', 'relayer_enabled'],
  );
});

t.test('a low balance that two instances see at the same time is told once', async (t) => {
  const url = await postgres.createDatabase();
  const log = createLog('silent');
  const stores = await Promise.all(
    [1, 2].map(async () => {
      const store = await openPostgresStore({ url, log, ...hastyLeases });
      t.teardown(() => store.close());
      return store;
    }),
  );
  const relayer = relayerOf({ id: 'r1', notificationId: 'hook' });
  await stores[0]?.write((writer) => writer.putRelayer(relayer));
  const chains = new Map([['evm' as const, createEvmChain(systemClock)]]);
  const outbox = new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => {}, log });
  const watches = stores.map((store) => new BalanceWatch({ store, outbox, log }));
  for (let balance = 150n; balance > 130n; balance -= 1n) {
    for (const watch of watches) watch.record({ relayer, balance, minBalance: 100n, again: async () => balance });
  }
  await Promise.all(watches.map((watch) => watch.close()));
  t.equal(await stores[0]?.read.waitingEvents(), 1);
  t.match(await stores[1]?.read.relayerBalance('r1'), { isLow: true });
});
