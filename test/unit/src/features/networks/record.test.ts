import { readFileSync } from 'node:fs';
import t from 'tap';
import { fixedNetworks } from '../../../../../src/features/networks/record.ts';
import {
  webhookEndSchema,
  webhookEventNameSchema,
} from '../../../../../src/features/webhooks/records/webhook-event.ts';

t.test('a network is found by type and name', (t) => {
  const one = { type: 'evm', name: 'one', rpcUrls: [], settings: {} } as const;
  const networks = fixedNetworks([{ ...one, rpcUrls: [] }]);
  t.match(networks.find('evm', 'one'), one);
  t.equal(networks.find('solana', 'one'), undefined);
  t.equal(networks.find('evm', 'two'), undefined);
  t.end();
});

t.test('webhook event', async (t) => {
  const GUIDE = readFileSync(new URL('../../../../../docs/webhooks.md', import.meta.url), 'utf8');

  t.test('the guide for receivers tells of every event, and of how a delivery ends', async (t) => {
    const told = [...GUIDE.matchAll(/(?:"event": "|^\| `)(\w+)["`]/gm)].map(([, name]) => name);
    t.strictSame(
      webhookEventNameSchema.options.filter((name) => !told.includes(name)),
      [],
    );
    t.notOk(webhookEndSchema.safeParse('waiting').success, 'what waits has not ended');
  });
});
