/** The payloads and times in docs/webhooks.md are right, and its receiver works as printed. */

import { spawn } from 'node:child_process';
import { createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { createChains } from '../../src/chains/registry.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createWebhookClient } from '../../src/egress/webhook-client.ts';
import { LOW_BALANCE_FACTOR } from '../../src/engine/relayers/balance-watch.ts';
import { DEAD_EVENTS_KEEP_MS } from '../../src/engine/retention.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { defaultWebhookTiming } from '../../src/engine/webhooks/webhook-delivery.ts';
import { createLog } from '../../src/observability/log.ts';
import { EXPOSED_METRICS } from '../../src/observability/metric-table.ts';
import type { StoreWriter } from '../../src/store/store.ts';
import { storedTransaction } from '../support/evm.ts';
import { relayerOf } from '../support/store.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'webhooks.md'), 'utf8');
const receiver = readFileSync(join(root, 'examples', 'demo', 'webhook-receiver.mjs'), 'utf8');
const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const MINUTE = 60_000;

interface Told {
  id: string;
  event: string;
  payload: { payload_type: string; relayer: object };
  timestamp: string;
}

const shown = [...guide.matchAll(/```json\n([^]*?)```/g)].map(([, text = '']) => JSON.parse(text) as Told);

/** The events that the service would put into its outbox. */
async function told(): Promise<Told[]> {
  const bodies: string[] = [];
  const relayer = relayerOf({ address: ACCOUNT, notificationId: 'hook' });
  const writer = {
    relayer: async () => relayer,
    insertEvent: async ({ body }: { body: string }) => void bodies.push(body),
  } as unknown as StoreWriter;
  const outbox = new Outbox({
    chains: createChains(systemClock),
    newId: randomUUID,
    now: systemClock.now,
    onCommitted: () => undefined,
    log: createLog('silent'),
  });
  const body = { to: ACCOUNT, value: 1, data: '0x', speed: 'fast' };
  await outbox.transactionsMoved(writer, [storedTransaction({ address: ACCOUNT, policies: {} }, body)]);
  await outbox.relayerDisabled(writer, relayer, { type: 'BalanceCheckFailed', details: 'Insufficient balance' });
  const low = { balance: 19n * 10n ** 16n, threshold: 2n * 10n ** 17n, minBalance: 10n ** 17n };
  await outbox.relayerBalanceLow(writer, relayer, low);
  return bodies.map((text) => JSON.parse(text) as Told);
}

t.test('the examples have the keys of real events, in their order', async (t) => {
  const events = await told();
  t.equal(shown.length, events.length);
  for (const [index, event] of events.entries()) {
    const { payload, ...rest } = shown[index] ?? event;
    t.strictSame(Object.keys(shown[index] ?? {}), Object.keys(event));
    t.equal(rest.event, event.event);
    t.equal(payload.payload_type, event.payload.payload_type);
    t.strictSame(Object.keys(payload), Object.keys(event.payload));
  }
  for (const key of Object.keys(shown[1]?.payload.relayer ?? {})) t.ok(key in (events[1]?.payload.relayer ?? {}), key);
});

t.test('its times and its metric are those of the code', (t) => {
  const { retryMs, retryCapMs, giveUpMs, leastTries } = defaultWebhookTiming;
  t.strictSame([retryMs, retryCapMs, giveUpMs, leastTries], [2_000, 15 * MINUTE, 24 * 60 * MINUTE, 8]);
  t.match(
    guide,
    /from 2 s to 15 min. The first try that fails when an event is a day old is its last, but not\s+before the eighth/,
  );
  t.equal(DEAD_EVENTS_KEEP_MS, 30 * 24 * 60 * MINUTE);
  t.match(guide, 'what is dead for 30 days');
  t.equal(LOW_BALANCE_FACTOR, 2n);
  t.match(guide, 'Low is less than twice `min_balance`');
  t.match(readFileSync(join(root, 'src/egress/webhook-client.ts'), 'utf8'), 'totalMs: 10_000');
  t.match(guide, /within 10 s is a delivery/);
  const [, metric = '', label = ''] = /`(isolayer_webhook_\w+)\{(\w+)="dead"\}`/.exec(guide) ?? [];
  t.ok(EXPOSED_METRICS.get(metric)?.labels.includes(label), metric);
  t.end();
});

t.test('the receiver takes what is genuine, and nothing else', async (t) => {
  t.match(guide, `\`\`\`js\n${receiver}\`\`\``, 'it stands in the guide as it is');
  const WEBHOOK_SIGNING_KEY = 'at least 32 characters, the same on both sides';
  const PORT = String(await freePort());
  const child = spawn(process.execPath, [join(root, 'examples', 'demo', 'webhook-receiver.mjs')], {
    env: { WEBHOOK_SIGNING_KEY, PORT },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  const [first] = (await once(output, 'line')) as [string];
  t.equal(first, `listening on port ${PORT}`);
  output.on('line', (line) => lines.push(line));
  const guard = createAddressGuard({ allowedHosts: [], blockPrivate: false });
  const client = createWebhookClient({ declared: guard, others: guard });
  t.teardown(() => client.close());
  const [event] = await told();
  const post = (keys: string[], at = Date.now()) =>
    client.post({
      url: `http://127.0.0.1:${PORT}/`,
      body: JSON.stringify(event),
      id: 'e1',
      at,
      signingKeys: keys.map((key) => createSecretKey(Buffer.from(key))),
      isDeclared: true,
    });
  t.match(await post([]), { kind: 'rejected', status: 401 });
  t.match(await post(['another key']), { kind: 'rejected', status: 401 });
  t.match(await post([WEBHOOK_SIGNING_KEY], Date.now() - 6 * MINUTE), { kind: 'rejected', status: 401 }, 'an old one');
  t.strictSame(lines, []);
  t.match(await post(['another key', WEBHOOK_SIGNING_KEY]), { kind: 'delivered', status: 200 });
  while (!lines.join('\n').includes('status: ')) await new Promise((resolve) => setTimeout(resolve, 10));
  t.match(lines.join('\n'), `status: 'pending'`);
});

/** The guide's receiver has a fixed port. Here it gets a free one. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
