import t, { type Test } from 'tap';
import type { ChainClient } from '../../src/chains/chain-client.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import { EngineWorld, LANE } from '../support/engine-world.ts';
import type { FakeFamily } from '../support/fake-chain-client.ts';
import { BlockhashChain } from '../support/model/blockhash-chain.ts';
import { BlockhashClient, BlockhashFamily } from '../support/model/blockhash-client.ts';
import { LedgerChain } from '../support/model/ledger-chain.ts';
import { LedgerClient, LedgerFamily } from '../support/model/ledger-client.ts';

/**
 * Transactions that can lapse, on two chains: one without an order of transactions, and one with time bounds and room
 * for a single waiting transaction.
 */
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
  const waiting: Transaction[] = [];
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
  // What was restored for one of them may serve another, whose own prerequisite is still on its way then.
  await world.until('what came before them is confirmed', async () => {
    if (chain.isBusy) chain.close();
    const children = await Promise.all(waiting.map(({ id }) => world.store.read.children(id)));
    return children.flat().every(({ status }) => status === 'confirmed');
  });
});

/** A payment expires only when its time has really passed, even if the clock is wrong for a moment. */
const HOURS = 3_600_000;

async function withClock(t: Test) {
  const world = await EngineWorld.open(t);
  let ahead = 0;
  const store = { ...world.store, now: async () => (await world.store.now()) + ahead };
  const engine = world.engine({ store });
  t.teardown(() => engine.close());
  await engine.start();
  const steps = async (count: number) => {
    for (let step = 0; step < count; step += 1) {
      const { calls } = world.client;
      engine.wake(LANE);
      await world.until('the engine goes on', async () => world.client.calls > calls);
    }
  };
  return { world, engine, steps, setAhead: (ms: number) => void (ahead = ms) };
}

for (const clock of ['goes on', 'stands still', 'cannot be asked'] as const) {
  t.test(`a clock that jumps nine hours ahead ends nothing while that of the chain ${clock}`, async (t) => {
    const { world, steps, engine, setAhead } = await withClock(t);
    const began = Date.now();
    if (clock === 'stands still') world.chain.time = () => began;
    if (clock === 'cannot be asked') world.chain.fault = (call) => (call === 'moment' ? 'answer-lost' : undefined);
    let isParked = true;
    world.client.onPrepare = ({ request }) =>
      isParked && request['effect'] === 'unsigned'
        ? { kind: 'parked', reason: 'above the cap', retryInMs: 0 }
        : undefined;
    const payments = [
      await world.accept('unsigned'),
      await world.accept('signed'),
      await world.accept('with an end', { validUntil: began + HOURS }),
    ];
    for (const one of payments.slice(1)) {
      engine.wake(LANE);
      await world.untilStatus(one, 'submitted');
    }
    setAhead(9 * HOURS);
    await steps(10);
    setAhead(0);
    isParked = false;
    for (const one of payments) await world.untilStatus(one, 'confirmed', { mining: true });
    t.equal(world.chain.executed.length, payments.length);
  });
}

t.test('a chain on which nothing happens keeps no payment alive', async (t) => {
  const { world, engine } = await withClock(t);
  world.chain.time = () => 0;
  world.client.onPrepare = ({ request }) =>
    request['effect'] === 'unsigned' ? { kind: 'parked', reason: 'above the cap', retryInMs: 0 } : undefined;
  const validUntil = Date.now() + 300;
  const unsigned = await world.accept('unsigned', { validUntil });
  const signed = await world.accept('signed', { validUntil });
  engine.wake(LANE);
  await world.untilStatus(unsigned, 'expired');
  await world.until('it is taken back', async () => (await world.get(signed)).noopEnd === 'expired');
  t.ok(Date.now() >= validUntil);
});
