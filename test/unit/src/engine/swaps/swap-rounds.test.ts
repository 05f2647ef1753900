import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SwapSchedule } from '../../../../../src/chains/chain.ts';
import { SwapRounds } from '../../../../../src/engine/swap-rounds.ts';
import { EngineWorld, fastTiming, LANE } from '../../../../support/engine-world.ts';
import { InstanceLeases } from '../../../../support/instance-leases.ts';

/** Rounds of several instances for one relayer with this swap schedule and a balance of 10. */
async function stage(t: Test, schedule: SwapSchedule, instances = 1) {
  const world = await EngineWorld.open(t);
  const told: string[] = [];
  let asked = 0;
  const client = Object.assign(Object.create(world.client), {
    balance: async () => 10n,
    swaps: async () => {
      asked += 1;
      return [
        { request: { effect: 'swap' }, validUntil: null, contentKey: 's', anchorKind: 'sequence', onDeath: 'end' },
      ];
    },
  });
  const family = Object.assign(Object.create(world.family), { swapSchedule: () => schedule });
  const shared = new InstanceLeases(60_000);
  for (let more = 0; more < instances; more += 1) {
    const leases = world.leases(shared.storeFor(world.store));
    const rounds = new SwapRounds({
      store: world.store,
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
  const { world, told, asked } = await stage(t, { cron: '* * * * * *', below: null }, 3);
  await world.until('two moments', async () => asked() >= 2);
  t.strictSame(told, [LANE]);
});

t.test('a low balance starts a swap, and one that is high enough does not', async (t) => {
  const little = await stage(t, { cron: null, below: 11n });
  await little.world.until('a swap', async () => little.told.length > 0);
  const enough = await stage(t, { cron: null, below: 10n });
  await enough.world.until('a look', async () => little.asked() > 1);
  t.equal(enough.asked(), 0);
});
