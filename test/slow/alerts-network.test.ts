/** The alerts about networks, transactions and webhooks fire for their own fault only. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { TRANSFER } from '../support/instances.ts';
import { outage, startNodeFront } from '../support/node-front.ts';
import { createWorkspace } from '../support/workspace.ts';

/** The numbers of the relayers, by their purpose. */
const [STUCK, POOR, FAILING, TELLING] = [1, 2, 3, 4] as const;

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
const front = await startNodeFront(anvil);
t.teardown(() => front.stop());
const workspace = await createWorkspace({
  rpcUrl: front.url,
  accounts: 4,
  env: { HOST: '127.0.0.1', WEBHOOK_BLOCK_PRIVATE_IPS: 'false' },
});
t.teardown(() => workspace.remove());
for (const [index, address] of workspace.addresses.entries()) {
  await anvil.rpc('anvil_setBalance', [address, index + 1 === POOR ? '0x38d7ea4c68000' : '0x56bc75e2d63100000']);
}

/** The shortest interval of health checks that works on a busy machine. */
const PACE = { healthMs: 4_000, confirmMs: 500 };
const scene = await alertScene(t, workspace.env, (env) => composeService(env, PACE));
const send = (relayer: number, more: object = {}) =>
  scene.service.request('POST', `/api/v1/relayers/local-${relayer}/transactions`, { ...TRANSFER, ...more });
const get = async (relayer: number, path = '') =>
  (await scene.service.request('GET', `/api/v1/relayers/local-${relayer}${path}`)).body.data;
const statuses = async (relayer: number) =>
  (await get(relayer, '/transactions?per_page=500')).map(({ status }: { status: string }) => status);

/** Waits for a condition without a time limit, however slow the machine is. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(250);
}

t.test('transactions that fail, wait for money, or get nowhere', async (t) => {
  const webhook = { id: 'hook', type: 'webhook', url: 'http://127.0.0.1:9/' };
  t.equal((await scene.service.request('POST', '/api/v1/notifications', webhook)).status, 201);
  await scene.service.request('PATCH', `/api/v1/relayers/local-${TELLING}`, { notification_id: 'hook' });
  t.equal((await send(POOR, { value: '1000000000000000000' })).status, 200);
  t.equal((await send(STUCK)).status, 200);
  // More gas than a block has.
  const failing = { gas_limit: 900_000_000 };
  const isFiring = () => scene.alerts.firing.includes('IsolayerTransactionsFailing');
  for (let sent = 0; sent < 12 && !isFiring(); sent += 1) {
    t.equal((await send(FAILING, failing)).status, 200);
    await until(async () => (await statuses(FAILING)).every((status: string) => status === 'failed'));
    await scene.minutes(1);
  }
  t.ok(isFiring());
  await scene.minutes(3);
  firesOnly(t, scene, ['IsolayerTransactionsFailing', 'IsolayerRelayerUnfunded']);

  for (let sent = 0; sent < 60; sent += 1) await send(TELLING);
  await until(async () => !(await statuses(TELLING)).includes('pending'));
  await until(async () => /^isolayer_webhook_events_waiting \d{3}$/m.test((await scene.scrape()) ?? ''));
  await scene.minutes(46, async (minute) => {
    if (minute % 15 !== 10) return;
    const grown = scene.untilCounted('isolayer_webhook_events_waiting');
    await send(TELLING);
    await grown;
  });
  const waiting = ['IsolayerRelayerUnfunded', 'IsolayerRelayerStalled'];
  firesOnly(t, scene, [...waiting, 'IsolayerWebhooksWaiting']);
});

t.test('transactions that are old, and events that nobody takes for a day', async (t) => {
  await scene.restart(() => {
    const database = new DatabaseSync(join(workspace.dir, 'data', 'isolayer.db'));
    database.exec('update transactions set created_at = created_at - 5 * 3600000');
    database.exec('update outbox set tries = 8, due_since = due_since - 86400000, next_try_at = 0');
    database.close();
  });
  await scene.untilCounted('isolayer_webhook_events_ended_total');
  await scene.minutes(12);
  const old = ['IsolayerTransactionOld', 'IsolayerTransactionStuck', 'IsolayerWebhooksDead'];
  firesOnly(t, scene, old, ['IsolayerRelayerStalled', 'IsolayerRelayerUnfunded']);
});

t.test('an endpoint that does not answer', async (t) => {
  front.rule(outage());
  await scene.restart(() => {
    const database = new DatabaseSync(join(workspace.dir, 'data', 'isolayer.db'));
    // A replacement that was accepted just before the outage. It needs a price, which no endpoint reports.
    const action = "json_object('kind', 'replace', 'request', json(request), 'validUntil', null)";
    const open = `select id, lane, ${action}, ? from transactions where relayer_id = ? and status = 'submitted'`;
    database
      .prepare(`insert into intents (transaction_id, lane, action, created_at) ${open}`)
      .run(Date.now(), `local-${STUCK}`);
    database.close();
  });
  // After half a minute by the service's clock, the replacement is refused.
  await scene.minutes(17);
  t.ok(scene.alerts.firing.includes('IsolayerIntentsWaiting'));
  await until(async () => (await get(STUCK)).system_disabled === true);
  await scene.minutes(6);
  await scene.untilFires('IsolayerEndpointFailing', 40, () => get(STUCK, '/balance'));
  const away = ['IsolayerRelayerUnhealthy', 'IsolayerNetworkUnreachable', 'IsolayerEndpointFailing'];
  const before = [
    'IsolayerTransactionOld',
    'IsolayerTransactionStuck',
    'IsolayerWebhooksDead',
    'IsolayerRelayerStalled',
  ];
  firesOnly(t, scene, away, [...before, 'IsolayerRelayerUnfunded', 'IsolayerIntentsWaiting']);
  firedAll(t, scene, [
    'IsolayerTransactionsFailing',
    'IsolayerRelayerUnfunded',
    'IsolayerRelayerStalled',
    'IsolayerWebhooksWaiting',
    'IsolayerTransactionOld',
    'IsolayerTransactionStuck',
    'IsolayerWebhooksDead',
    'IsolayerIntentsWaiting',
    'IsolayerRelayerUnhealthy',
    'IsolayerNetworkUnreachable',
    'IsolayerEndpointFailing',
  ]);
});
