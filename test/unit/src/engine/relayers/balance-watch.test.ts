import t, { type Test } from 'tap';
import { BalanceWatch, LOW_BALANCE_FACTOR } from '../../../../../src/engine/relayers/balance-watch.ts';
import { Outbox } from '../../../../../src/engine/webhooks/outbox.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';

const LEAST = 100n;

async function stage(t: Test) {
  const world = await EngineWorld.open(t);
  const relayer = relayerNamed('r1', { notificationId: 'hook-1' });
  await world.store.write((writer) => writer.putRelayer(relayer));
  let committed = 0;
  const outbox = new Outbox({
    chains: new Map([['evm', world.family]]),
    newId: () => crypto.randomUUID(),
    now: () => 0,
    onCommitted: () => void (committed += 1),
    log: world.log,
  });
  const watch = new BalanceWatch({ store: world.store, outbox, log: world.log });
  const see = async (balance: bigint, again = balance, by = watch) => {
    by.record({ relayer, balance, minBalance: LEAST, again: async () => again });
    await by.close();
  };
  const told = async () => {
    const events = await world.store.write((writer) => writer.claimEvents('hook-1', 100, 0));
    return events.map(({ event, body }) => ({ event, ...JSON.parse(body).payload }));
  };
  return { world, relayer, outbox, watch, see, told, committed: () => committed };
}

t.test('a balance that comes near the least is told once, and again only after it was well', async (t) => {
  const { see, told, committed, world } = await stage(t);
  await see(200n);
  t.strictSame(await told(), [], 'not yet');
  for (const balance of [199n, 150n, 99n, 0n, 219n]) await see(balance);
  t.match(await told(), [
    {
      event: 'relayer_balance_low',
      payload_type: 'relayer_balance_low',
      relayer: { id: 'r1' },
      balance: 199,
      threshold: 200,
      min_balance: 100,
    },
  ]);
  t.match(await world.store.read.relayerBalance('r1'), { balance: 219n, isLow: true }, 'a tenth above it is well');
  await see(220n);
  t.match(await world.store.read.relayerBalance('r1'), { balance: 220n, isLow: false });
  await see(50n);
  t.equal(committed(), 1, 'at less than the least the relayer is disabled, which is told by itself');
  t.match(await world.store.read.relayerBalance('r1'), { isLow: true });
  await see(300n);
  await see(100n);
  t.equal(committed(), 2);
  t.equal(LOW_BALANCE_FACTOR, 2n);
});

t.test('a low balance needs a quorum to raise the alarm, and a known one is not asked about again', async (t) => {
  const { see, told, world, watch, relayer } = await stage(t);
  await see(150n, 1_000n);
  t.strictSame(await told(), []);
  t.match(await world.store.read.relayerBalance('r1'), { balance: 1_000n, isLow: false });
  watch.record({ relayer, balance: 150n, minBalance: LEAST, again: () => Promise.reject(new Error('no quorum')) });
  await watch.close();
  t.match(await world.store.read.relayerBalance('r1'), { balance: 1_000n }, 'what is not certain is not noted');
  await see(150n);
  watch.record({ relayer, balance: 140n, minBalance: LEAST, again: () => Promise.reject(new Error('asked again')) });
  await watch.close();
  t.match(await world.store.read.relayerBalance('r1'), { balance: 140n, isLow: true });
});

t.test('many that see it at the same time tell it once; of a relayer that is gone nothing is told', async (t) => {
  const { relayer, outbox, see, told, world, committed } = await stage(t);
  const watches = [1, 2, 3].map(() => new BalanceWatch({ store: world.store, outbox, log: world.log }));
  await Promise.all(watches.map((watch) => see(120n, 120n, watch)));
  t.equal((await told()).length, 1);
  await world.store.write((writer) => writer.deleteRelayer(relayer.id));
  await see(1n);
  t.equal(committed(), 1);
  t.equal(await world.store.read.relayerBalance('r1'), undefined);
});

t.test('without a least there is no low', async (t) => {
  const { watch, relayer, committed, world } = await stage(t);
  watch.record({ relayer, balance: 0n, minBalance: 0n, again: async () => 0n });
  await watch.close();
  t.match(await world.store.read.relayerBalance('r1'), { balance: 0n, isLow: false });
  t.equal(committed(), 0);
});
