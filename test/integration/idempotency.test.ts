/**
 * Threat: a client does not know whether its request arrived, and repeats it: to the same server, to another instance,
 * or to a server that was restarted after a kill. It must not pay twice, and it must get an answer.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { RelayerDirectory } from '../../src/features/relayers/relayer-access.ts';
import { createTransactionsService } from '../../src/features/transactions/transactions.ts';
import { IdempotencyKeys } from '../../src/http/idempotency-keys.ts';
import type { Store } from '../../src/store/store.ts';
import { startAnvil } from '../support/anvil.ts';
import { Crash } from '../support/crash.ts';
import { EngineWorld } from '../support/engine-world.ts';
import { assertPaidOnce, instancesFor, RECEIVER, TRANSACTIONS, TRANSFER, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { type AnswerBody, type StartedService, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALL = '/api/v1/plugins/pay/call';
/** Pays once, and then hangs until another call releases it. With `drift`, each run pays a different amount. */
const PLUGIN = `
export async function handler({ api, kv, params }) {
  if (params.letGo) return kv.set('letGo', true);
  const note = params.drift ? { data: '0x' + Date.now().toString(16).padStart(16, '0'), gas_limit: 50_000 } : {};
  const transfer = { ...${JSON.stringify(TRANSFER)}, ...note };
  const { id } = await api.useRelayer('local-1').sendTransaction(transfer);
  while (params.hang && !(await kv.exists('letGo'))) await new Promise((resolve) => setTimeout(resolve, 50));
  await kv.set('last', id);
  return { id };
}`;

interface Answer {
  status: number;
  body: AnswerBody;
  isReplay: boolean;
}

async function ask(service: StartedService, path: string, key: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, body: await response.json(), isReplay };
}

const pay = (service: StartedService, key: string, body: unknown = TRANSFER) => ask(service, TRANSACTIONS, key, body);

/** Repeats the request until its answer is neither "still running" nor "not now". */
async function persist(service: StartedService, path: string, key: string, body: unknown): Promise<Answer> {
  for (;;) {
    const answer = await ask(service, path, key, body);
    if (answer.status === 200) return answer;
    await delay(200);
  }
}

async function total(service: StartedService): Promise<number> {
  return (await service.request('GET', TRANSACTIONS)).body.pagination.total_items;
}

async function embedded(t: Test) {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'pay.ts': PLUGIN },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const start = async () => {
    const service = await startService(workspace.env);
    t.teardown(() => service.kill());
    return service;
  };
  return { anvil, address: workspace.address, start };
}

t.test('a process that dies at any step of a request leaves one transaction to the next', async (t) => {
  const world = await EngineWorld.open(t);
  const keysOn = (store: Store) => {
    const keys = new IdempotencyKeys({ store, clock: systemClock, log: world.log, newId: randomUUID });
    t.teardown(() => keys.close());
    return keys;
  };
  const connections = { clientOf: () => world.client, close: async () => {} };
  const serve = async (store: Store, key: string): Promise<string> => {
    const keys = keysOn(store);
    const begun = await keys.begin({ scope: 's', key, fingerprint: 'f' }, () => false);
    if (begun.kind === 'answered') return begun.answer.body;
    const chains = new Map([['evm' as const, world.family]]);
    const transactions = createTransactionsService({
      store,
      relayers: new RelayerDirectory({ read: store.read, chains, connections }),
      engine: { wake: () => {}, onChange: () => () => {} },
      metrics: world.metrics,
      clock: systemClock,
      log: world.log,
      newId: randomUUID,
    });
    const effect = { claim: begun.run.claim, payloadHash: 'f', occurrence: 0, isStep: false };
    const { id } = await transactions.send('r1', { effect: 'pay' }, { effect });
    await keys.end(begun.run, { status: 200, body: String(id) }, 'always');
    return String(id);
  };
  let step = 0;
  for (let isWhole = false; !isWhole && step < 100; step += 1) {
    const crash = new Crash(step);
    const first = serve(crash.store(world.store), `key ${step}`).then(() => {
      isWhole = true;
    });
    while (!crash.hasHappened && !isWhole) await Promise.race([first, new Promise(setImmediate)]);
    const id = await serve(world.store, `key ${step}`);
    const { total } = await world.store.read.transactions('r1', { page: 1, perPage: 1 });
    t.equal(total, step + 1, `dead after step ${step}`);
    t.equal(await serve(world.store, `key ${step}`), id);
  }
  t.ok(step > 10 && step < 100, `${step} steps`);
});

t.test('on the embedded database', async (t) => {
  const world = await embedded(t);
  let service = await world.start();

  await t.test('many repeats at once are one payment with one answer', async (t) => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => pay(service, 'burst')));
    t.ok(answers.every(({ status }) => status === 200));
    t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
    t.equal(answers.filter(({ isReplay }) => !isReplay).length, 1);
    t.equal(await total(service), 1);
    t.equal((await pay(service, 'burst', { ...TRANSFER, value: '8' })).status, 409);
  });

  await t.test('a server that is killed while it is asked pays each request once', async (t) => {
    const before = await total(service);
    const calls = { steady: { hang: true }, drifting: { hang: true, drift: true } };
    const hanging = Object.entries(calls).map(([key, params]) =>
      ask(service, CALL, key, params).catch(() => undefined),
    );
    while ((await total(service)) < before + 2) await delay(50);
    const ofCalls: { id: string }[] = (await service.request('GET', `${TRANSACTIONS}?per_page=2`)).body.data;
    const keys = Array.from({ length: 30 }, (_, n) => `kill-${n}`);
    const asked = keys.map((key) => pay(service, key).catch(() => undefined));
    // Some have an answer by now, and some have not arrived.
    await Promise.race(asked);
    await service.kill();
    await Promise.all([...hanging, ...asked]);
    service = await world.start();

    const ids = await Promise.all(keys.map(async (key) => (await persist(service, TRANSACTIONS, key, TRANSFER)).body));
    t.equal(new Set(ids.map(({ data }) => data.id)).size, keys.length);
    t.equal(await total(service), before + 2 + keys.length);

    await t.test('a plugin call that died after a payment goes on from it', async (t) => {
      await service.call('pay', { letGo: true });
      t.equal((await ask(service, CALL, 'steady', { hang: false })).status, 409, 'other parameters: another request');
      const first = await ask(service, CALL, 'steady', calls.steady);
      t.match(first, { status: 200, isReplay: false });
      t.ok(ofCalls.some(({ id }) => id === first.body.data.id));
      t.match(await ask(service, CALL, 'steady', calls.steady), { status: 200, isReplay: true, body: first.body });
    });

    await t.test('one whose payment has the time in it pays what it paid before', async (t) => {
      const repeated = await ask(service, CALL, 'drifting', calls.drifting);
      t.match(repeated, { status: 200, isReplay: false });
      t.ok(ofCalls.some(({ id }) => id === repeated.body.data.id));
      t.equal(await total(service), before + 2 + keys.length);
    });
  });

  await t.test('a plugin call is answered from memory, its effects are done once', async (t) => {
    const before = await total(service);
    const first = await ask(service, CALL, 'call', { n: 1 });
    const again = await ask(service, CALL, 'call', { n: 1 });
    t.strictSame([first.status, again.status, again.isReplay], [200, 200, true]);
    t.strictSame(again.body, first.body);
    t.equal(await total(service), before + 1);
  });

  await t.test('and the chain agrees', async (t) => {
    const count = await total(service);
    await assertPaidOnce(t, world, await untilMined(service, count));
  });
});

t.test('with two instances on PostgreSQL', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const instances = await instancesFor(t, postgres);
  const [one, other] = await Promise.all([instances.start(), instances.compose()]);

  const keys = Array.from({ length: 5 }, (_, n) => `key-${n}`);
  const asked = keys.flatMap((key) => [one, other, one, other].map((service) => pay(service, key)));
  const answers = await Promise.all(asked);
  t.ok(
    answers.every(({ status }) => status === 200),
    JSON.stringify(answers.find(({ status }) => status !== 200)),
  );
  t.equal(new Set(answers.map(({ body }) => body.data.id)).size, keys.length);
  t.equal(answers.filter(({ isReplay }) => !isReplay).length, keys.length);
  t.equal((await pay(other, 'key-0', { ...TRANSFER, value: '8' })).status, 409);

  const late = Array.from({ length: 15 }, (_, n) => `late-${n}`);
  const lost = late.map((key) => pay(one, key).catch(() => undefined));
  await delay(15);
  await one.kill();
  await Promise.all(lost);
  const found = await Promise.all(late.map((key) => persist(other, TRANSACTIONS, key, TRANSFER)));
  t.ok(found.every(({ status }) => status === 200));
  t.equal(new Set(found.map(({ body }) => body.data.id)).size, late.length);
  t.equal(await total(other), keys.length + late.length);
  await assertPaidOnce(t, instances, await untilMined(other, keys.length + late.length));
  t.equal(BigInt(String(await instances.anvil.rpc('eth_getBalance', [RECEIVER, 'latest']))), 140n);
});
