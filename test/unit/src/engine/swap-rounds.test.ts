import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SwapSchedule } from '../../../../src/chains/chain.ts';
import type { ParsedRequest } from '../../../../src/chains/chain-client.ts';
import { SwapRounds, startSwaps } from '../../../../src/engine/swap-rounds.ts';
import { EngineWorld, fastTiming, LANE, relayerNamed } from '../../../support/engine-world.ts';
import { InstanceLeases } from '../../../support/instance-leases.ts';

/** Rounds of several instances for one relayer with this swap schedule and a balance of 10. */
async function stage(
  t: Test,
  schedule: SwapSchedule,
  { instances = 1, now, failing = 0 }: { instances?: number; now?: () => number; failing?: number } = {},
) {
  const world = await EngineWorld.open(t);
  const told: string[] = [];
  let asked = 0;
  const client = Object.assign(Object.create(world.client), {
    balance: async () => 10n,
    swaps: async () => {
      asked += 1;
      if (asked <= failing) throw new Error('no endpoint answers');
      return [
        { request: { effect: 'swap' }, validUntil: null, contentKey: 's', anchorKind: 'sequence', onDeath: 'end' },
      ];
    },
  });
  const family = Object.assign(Object.create(world.family), { swapSchedule: () => schedule });
  const shared = new InstanceLeases(60_000);
  const store = now === undefined ? world.store : { ...world.store, now: async () => now() };
  for (let more = 0; more < instances; more += 1) {
    const leases = world.leases(shared.storeFor(store));
    const rounds = new SwapRounds({
      store,
      leases,
      newId: randomUUID,
      log: world.log,
      random: Math.random,
      chains: new Map([['evm', family]]),
      connections: { clientOf: () => client, close: async () => {} },
      timing: { ...fastTiming, swapMs: 5, swapBalanceMs: 10 },
      onSwap: (lane) => told.push(lane),
    });
    rounds.start();
    rounds.start();
    t.teardown(async () => {
      await rounds.close();
      await rounds.close();
      await leases.close();
    });
  }
  return { world, told, asked: () => asked };
}

t.test('the clock starts a swap once, however many instances look', async (t) => {
  const { world, told, asked } = await stage(t, { cron: '* * * * * *', below: null }, { instances: 3 });
  await world.until('two moments', async () => asked() >= 2);
  t.strictSame(told, [LANE]);
});

t.test('a moment at which no endpoint answered is still due, and starts a swap once', async (t) => {
  let now = Date.parse('2026-11-27T10:59:59Z');
  const looks = new Set<number>();
  const clock = () => {
    looks.add(now);
    return now;
  };
  const { world, told, asked } = await stage(t, { cron: '0 0 * * * *', below: null }, { now: clock, failing: 1 });
  const until = async (wanted: () => boolean) => {
    await world.until('a look', async () => {
      now += 1;
      return wanted();
    });
  };
  await until(() => looks.size > 2);
  now = Date.parse('2026-11-27T11:00:05Z');
  await until(() => told.length === 1);
  const seen = looks.size;
  await until(() => looks.size > seen + 5);
  t.strictSame([asked(), told.length], [2, 1]);
});

t.test('a low balance starts a swap, and one that is high enough does not', async (t) => {
  const little = await stage(t, { cron: null, below: 11n });
  await little.world.until('a swap', async () => little.told.length > 0);
  const enough = await stage(t, { cron: null, below: 10n });
  await enough.world.until('a look', async () => little.asked() > 1);
  t.equal(enough.asked(), 0);
});

t.test('start swaps', async (t) => {
  const swap = (effect: string): ParsedRequest => ({
    request: { effect },
    validUntil: null,
    contentKey: `swap:${effect}`,
    anchorKind: 'sequence',
    onDeath: 'end',
  });

  async function stage(t: Test, wanted: () => ParsedRequest[]) {
    const world = await EngineWorld.open(t);
    const leases = world.leases();
    const lease = await leases.hold('swap-rounds');
    t.teardown(() => leases.close());
    if (lease === undefined) throw new Error('nobody else has it');
    const client = Object.assign(Object.create(world.client), { swaps: async () => wanted() });
    const connections = { clientOf: () => client, close: async () => {} };
    const start = (run: string, relayer = relayerNamed('r1')) =>
      startSwaps({ store: world.store, connections, newId: randomUUID }, relayer, run, lease);
    const all = async () => (await world.store.read.transactions('r1', { page: 1, perPage: 10 })).items;
    return { world, lease, start, all };
  }

  t.test('each is a transaction of the lane, and one under way is not doubled', async (t) => {
    const { start, all } = await stage(t, () => [swap('one'), swap('two')]);
    t.equal(await start('at 1'), LANE);
    t.match(await all(), [
      { status: 'pending', lane: LANE },
      { status: 'pending', lane: LANE },
    ]);
    t.equal(await start('at 2'), undefined);
    t.equal((await all()).length, 2);
  });

  t.test('a moment of the schedule starts swaps only once, even after they have ended', async (t) => {
    const { world, start, all } = await stage(t, () => [swap('one')]);
    await start('at 1');
    const [only] = await all();
    const life = ['pending', 'sent', 'submitted', 'mined', 'confirmed'] as const;
    for (const [index, status] of life.slice(1).entries()) {
      const seen = life[index] ?? 'pending';
      await world.store.write((writer) => writer.updateTransaction(only?.id ?? '', seen, { status }));
    }
    t.equal(await start('at 1'), undefined);
    t.equal(await start('at 2'), LANE);
    t.equal((await all()).length, 2);
  });

  t.test('without anything to swap, and for a relayer that is gone, nothing is accepted', async (t) => {
    const none = await stage(t, () => []);
    t.equal(await none.start('at 1'), undefined);
    const gone = await stage(t, () => [swap('one')]);
    t.equal(await gone.start('at 1', relayerNamed('r9')), undefined);
    t.equal(await gone.start('at 1', { ...relayerNamed('r1'), network: 'unknown' }), undefined);
    t.strictSame(await gone.all(), []);
  });
});
