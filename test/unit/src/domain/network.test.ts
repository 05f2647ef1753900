import { readFileSync } from 'node:fs';
import t from 'tap';
import { ENDPOINT_STATES, type EndpointNews, type EndpointState } from '../../../../src/domain/endpoint-news.ts';
import { fixedNetworks } from '../../../../src/domain/network.ts';
import { networkTypeSchema } from '../../../../src/domain/network-type.ts';
import { eventNameSchema, webhookEndSchema } from '../../../../src/domain/webhook-event.ts';

t.test('a network is found by type and name', (t) => {
  const one = { type: 'evm', name: 'one', rpcUrls: [], settings: {} } as const;
  const networks = fixedNetworks([{ ...one, rpcUrls: [] }]);
  t.match(networks.find('evm', 'one'), one);
  t.equal(networks.find('solana', 'one'), undefined);
  t.equal(networks.find('evm', 'two'), undefined);
  t.end();
});

t.test('the three families, in lower case', (t) => {
  t.same(networkTypeSchema.options, ['evm', 'solana', 'stellar']);
  t.notOk(networkTypeSchema.safeParse('EVM').success);
  t.end();
});

t.test('whoever is told to be left alone has a state of that name', (t) => {
  const left: Exclude<EndpointNews['kind'] & EndpointState, never>[] = ['paused', 'limited', 'unfit'];
  t.strictSame(
    ENDPOINT_STATES.filter((state) => state !== 'ready'),
    left,
  );
  t.end();
});

t.test('webhook event', async (t) => {
  const GUIDE = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');

  t.test('the guide for receivers tells of every event, and of how a delivery ends', async (t) => {
    const told = [...GUIDE.matchAll(/(?:"event": "|^\| `)(\w+)["`]/gm)].map(([, name]) => name);
    t.strictSame(
      eventNameSchema.options.filter((name) => !told.includes(name)),
      [],
    );
    t.notOk(webhookEndSchema.safeParse('waiting').success, 'what waits has not ended');
  });
});
