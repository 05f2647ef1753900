/**
 * The promise: what a relayer with `private_transactions` sends goes to its network's relays and to no public endpoint
 * before it is in a block, with each of its versions and noops. What could break it: a relay that is down, a restart, a
 * changed policy, a cancel, bytes that are offered again.
 */
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../support/evm-scenario.ts';
import { PrivateRelay } from '../support/private-relay.ts';

const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '20'] });
t.teardown(() => anvil.stop());
let accounts = 0;

type Method = 'eth_sendRawTransaction' | 'eth_sendPrivateTransaction';

/** A relayer of private transactions on the node's next account, and one relay for each method. */
async function open(t: Test, methods: readonly Method[], options: EvmScenarioOptions = {}) {
  accounts += 1;
  const relays = await Promise.all(methods.map(() => PrivateRelay.start(anvil)));
  t.teardown(() => Promise.all(relays.map((relay) => relay.stop())));
  const urls = relays.map(({ url }, index) => ({ url, method: methods[index] ?? '' }));
  const stage = await EvmScenario.open(t, anvil, {
    account: accounts,
    ...options,
    settings: { private_rpc_urls: urls },
    policies: { private_transactions: true, ...options.policies },
  });
  await stage.start();
  return { stage, relays };
}

for (const method of ['eth_sendRawTransaction', 'eth_sendPrivateTransaction'] as const) {
  t.test(
    `a payment goes to a relay by ${method}, and no public endpoint sees it before it is in a block`,
    async (t) => {
      const { stage, relays } = await open(t, [method]);
      const ids = await stage.sendMany(3);
      await stage.untilStatus(ids, 'submitted');
      const [relay] = relays;
      t.strictSame(relay?.held.map(({ nonce }) => nonce).toSorted(), [0, 1, 2]);
      // They are offered again and again, and looked for in the pool.
      const offers = relay?.calls(method).length ?? 0;
      await stage.until('it is offered again', () => (relay?.calls(method).length ?? 0) > offers + 3);
      t.strictSame([stage.front.offers, await stage.nonces('pending')], [[], 0]);
      await relay?.build();
      await stage.untilStatus(ids, 'confirmed', { mining: true });
      t.strictSame([stage.front.offers, await stage.paid()], [[], 21n]);
      const head = Number(await anvil.rpc('eth_blockNumber', []));
      const maxBlocks = relay?.held.map(({ maxBlock }) => maxBlock) ?? [];
      if (method === 'eth_sendRawTransaction') t.strictSame(maxBlocks, [undefined, undefined, undefined]);
      else
        t.ok(
          maxBlocks.every((block) => block !== undefined && block > 20 && block <= head + 25),
          `${maxBlocks}`,
        );
    },
  );
}

t.test('of two relays one may be down', async (t) => {
  const { stage, relays } = await open(t, ['eth_sendRawTransaction', 'eth_sendPrivateTransaction']);
  for (const relay of relays) relay.isDown = relay === relays[0];
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  await relays[1]?.build();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.strictSame(stage.front.offers, []);
});

t.test('while all relays are down it waits and says why, also after a restart without the policy', async (t) => {
  const { stage, relays } = await open(t, ['eth_sendPrivateTransaction']);
  const [relay] = relays;
  if (relay === undefined) throw new Error('no relay');
  relay.isDown = true;
  const id = await stage.send();
  await stage.until('it says why', async () => /HTTP status 502/.test((await stage.get(id)).statusReason ?? ''));
  t.equal((await stage.get(id)).status, 'sent');
  t.notMatch((await stage.get(id)).statusReason, /key-1234567890/);
  await stage.stop();
  await stage.store.write(async (writer) => {
    const relayer = await writer.relayer('r1');
    if (relayer !== undefined) await writer.putRelayer({ ...relayer, policies: {} });
  });
  await stage.start();
  relay.isDown = false;
  await stage.untilStatus(id, 'submitted');
  t.strictSame([stage.front.offers, relay.held.length], [[], 1]);
  await relay.build();
  await stage.untilStatus(id, 'confirmed', { mining: true });
});

t.test('the noop of a canceled one, and the version that replaces one, go the same way', async (t) => {
  const { stage, relays } = await open(t, ['eth_sendPrivateTransaction']);
  const [relay] = relays;
  const [canceled, replaced] = [await stage.send(), await stage.send()];
  await stage.untilStatus([canceled, replaced], 'submitted');
  await stage.cancel(canceled);
  await stage.services.lifecycle.replace('r1', replaced, {
    to: stage.payee,
    value: 9,
    data: '0x',
    gas_limit: 21_000,
    speed: 'fastest',
  });
  await stage.until('both have a further version', () => (relay?.held.length ?? 0) >= 4);
  await relay?.build();
  await stage.untilStatus(canceled, 'canceled', { mining: true });
  await stage.untilStatus(replaced, 'confirmed', { mining: true });
  t.strictSame([stage.front.offers, await stage.paid()], [[], 9n]);
});

t.test('with private_then public it goes to the public endpoints once its blocks are over, not before', async (t) => {
  const policies = { private_blocks: 3, private_then: 'public' };
  const { stage, relays } = await open(t, ['eth_sendPrivateTransaction'], { policies });
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  await stage.mine(2);
  const offers = relays[0]?.calls('eth_sendPrivateTransaction').length ?? 0;
  await stage.until('it is offered again', () => {
    return (relays[0]?.calls('eth_sendPrivateTransaction').length ?? 0) > offers + 2;
  });
  t.strictSame(stage.front.offers, []);
  await stage.mine(2);
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.ok(stage.front.offers.length > 0);
  t.equal(await stage.paid(), 7n);
});

t.test('without relays nothing of it is signed', async (t) => {
  accounts += 1;
  const stage = await EvmScenario.open(t, anvil, { account: accounts, policies: { private_transactions: true } });
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'failed');
  t.match(await stage.get(id), { sequence: null, statusReason: /^Policy private_transactions: the network has no/ });
});
