/**
 * Transactions that can lapse, on two chains: one without an order of transactions, and one with time bounds and room
 * for a single waiting transaction.
 */
import t, { type Test } from 'tap';
import type { ChainClient } from '../../src/chains/chain-client.ts';
import { EngineWorld } from '../support/engine-world.ts';
import type { FakeFamily } from '../support/fake-chain-client.ts';
import { BlockhashChain } from '../support/model/blockhash-chain.ts';
import { BlockhashClient, BlockhashFamily } from '../support/model/blockhash-client.ts';
import { LedgerChain } from '../support/model/ledger-chain.ts';
import { LedgerClient, LedgerFamily } from '../support/model/ledger-client.ts';

const PAYMENT = {
  request: { effect: 'pay', pays: 'pay', reverts: false },
  anchorKind: 'none',
  onDeath: 'renew',
} as const;

async function drive(t: Test, family: FakeFamily, client: ChainClient): Promise<EngineWorld> {
  const world = await EngineWorld.open(t, undefined, family);
  const engine = world.engine({ client });
  t.teardown(() => engine.close());
  await engine.start();
  return world;
}

t.test('what is canceled ends when it is dead, although no node is known to have had it', async (t) => {
  const chain = new BlockhashChain();
  const world = await drive(t, new BlockhashFamily(), new BlockhashClient(chain));
  chain.fault = (call) => (call === 'broadcast' ? 'request-lost' : undefined);
  const transaction = await world.accept('pay', PAYMENT);
  const { id: transactionId, lane } = transaction;
  await world.untilStatus(transaction, 'sent');
  await world.store.write((writer) => writer.insertIntent({ transactionId, lane, action: { kind: 'cancel' } }));
  const status = async () => (await world.get(transaction)).status;
  await world.until('it is withdrawn', async () => (await world.get(transaction)).noopEnd !== null);
  t.equal(await status(), 'sent', 'it may still be somewhere');
  await world.until('it has ended', async () => {
    chain.mine();
    return (await status()) === 'canceled';
  });
  t.strictSame(chain.landed, []);
});

t.test('what lapsed is signed anew, and pays once', async (t) => {
  const chain = new BlockhashChain();
  const world = await drive(t, new BlockhashFamily(), new BlockhashClient(chain));
  const transaction = await world.accept('pay', PAYMENT);
  await world.untilStatus(transaction, 'submitted');
  chain.forgetPool();
  for (let block = 0; block < 10; block += 1) chain.mine();
  chain.calmDown();
  await world.until('it is confirmed', async () => {
    chain.mine();
    return (await world.get(transaction)).status === 'confirmed';
  });
  t.equal(chain.landed.length, 1);
  const attempts = await world.store.read.attempts(transaction.id);
  t.ok(attempts.length > 1);
  t.ok(attempts.slice(0, -1).every(({ deadAt }) => deadAt !== null));
});

t.test('where there is room for one, what waits for something else leaves it to that', async (t) => {
  const chain = new LedgerChain();
  const world = await drive(t, new LedgerFamily(), new LedgerClient(chain));
  const ledger = { anchorKind: 'sequence', onDeath: 'renew' } as const;
  const needs = { what: 'its entry', fails: false };
  const waiting = [];
  for (let index = 0; index < 5; index += 1) {
    const effect = `needy ${index}`;
    waiting.push(await world.accept(effect, { ...ledger, request: { effect, reverts: false, needs } }));
  }
  for (const transaction of waiting) {
    await world.until('it is confirmed', async () => {
      // Do not close empty ledgers. On a slow machine, a transaction could lapse while it is signed.
      if (chain.isBusy) chain.close();
      return (await world.get(transaction)).status === 'confirmed';
    });
  }
  const [first] = chain.closed;
  t.equal(first?.inner.restores, 'its entry', 'what they need comes first');
  const children = await Promise.all(waiting.map(({ id }) => world.store.read.children(id)));
  t.ok(children.flat().every(({ status }) => status === 'confirmed'));
});
